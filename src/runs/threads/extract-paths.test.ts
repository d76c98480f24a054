import { describe, expect, it } from 'vitest'
import type { Thread } from '../model.ts'
import { extracted, readPaths } from './extract-paths.ts'
import { threadText } from './json.ts'

const RECORD = {
  values: { messages: [{ content: 'first' }, { content: [{ text: 'last' }] }], 'a-b': { c: null } },
  metadata: { list: [[1, 2]] },
}

function at(path: string): unknown {
  return extracted(RECORD, readPaths({ it: path }))['it']
}

describe('extract of a thread search', () => {
  it.each([
    ['values.messages[0].content', 'first'],
    ['values.messages[-1].content[0].text', 'last'],
    ['metadata.list[0][1]', 2],
    ['values.a-b', { c: null }],
    ['values.a-b.c', null],
    ['values.a-b.c.d', null],
    ['values.messages[7]', null],
    ['values.messages.content', null],
    ['values[0]', null],
    ['metadata.constructor', null],
    ['nothing', null],
  ])('%s is %j', (path, expected) => {
    expect(at(path)).toEqual(expected)
  })

  it.each(['', '.', 'a..b', 'a.', 'a[', 'a[x]', 'a[1', 'a]', 'a[-]'])('%j is not a path', (path) => {
    expect(() => readPaths({ it: path })).toThrow('is not a path')
  })
})

it('RUN-38: an extracted integer beyond 2^53 keeps its digits', () => {
  const thread = {
    created_at: 0,
    updated_at: 0,
    state_updated_at: 0,
    config: {},
    values_json: '{"n":12345678901234567890}',
  }
  const text = threadText(thread as unknown as Thread, { extract: readPaths({ n: 'values.n' }) })
  expect(text).toContain('"extracted":{"n":12345678901234567890}')
})
