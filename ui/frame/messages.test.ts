import { expect, it } from 'vitest'
import { readFromFrame, readToFrame } from './messages.ts'

const read = (value: unknown): unknown => readFromFrame(JSON.stringify(value))

it('reads the messages of a frame, with nothing but their own fields', () => {
  expect(read({ type: 'ready', more: 1 })).toEqual({ type: 'ready' })
  expect(read({ type: 'height', pixels: 120.5 })).toEqual({ type: 'height', pixels: 120.5 })
  expect(read({ type: 'ask', input: { a: 1 }, checkpoint: 'x' })).toEqual({ type: 'ask', input: { a: 1 } })
  expect(read({ type: 'ask', input: null, resume: 'yes' })).toEqual({
    type: 'ask',
    input: null,
    resume: 'yes',
  })
  expect(read({ type: 'failed', message: 'x'.repeat(9000) })).toEqual({
    type: 'failed',
    message: 'x'.repeat(500),
  })
})

it('reads no other message of a frame', () => {
  for (const wrong of [
    { type: 'height', pixels: '100' },
    { type: 'ask', input: [] },
    { type: 'ask' },
    { type: 'failed' },
    { type: 'other' },
    [],
    null,
    'ready',
  ])
    expect(read(wrong)).toBeUndefined()
  expect(readFromFrame({ type: 'ready' })).toBeUndefined()
  expect(readFromFrame('{"type":"ready"')).toBeUndefined()
  expect(read({ type: 'ask', input: { text: 'x'.repeat(70_000) } })).toBeUndefined()
})

it('reads what Studio sends, and nothing of others', () => {
  const sent = { name: 'card', props: {}, meta: null, isLoading: false }
  expect(readToFrame(JSON.stringify(sent))).toEqual(sent)
  expect(readToFrame(JSON.stringify({ name: 'card' }))).toBeUndefined()
  expect(readToFrame({ ...sent })).toBeUndefined()
})
