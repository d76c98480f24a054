import { expect, it } from 'vitest'
import { wordsOf } from './words.ts'

it('values of graphs are told in words: the last message in any form, else their JSON', () => {
  for (const last of [
    'Where is it?',
    { role: 'user', content: 'Where is it?' },
    { type: 'human', content: [{ type: 'image_url' }, { type: 'text', text: 'Where is it?' }] },
    ['user', 'Where is it?'],
  ])
    expect(wordsOf({ messages: [{ role: 'user', content: 'Hello' }, last] })).toBe('Where is it?')
  expect(wordsOf({ messages: 'Hello' })).toBe('Hello')
  expect(wordsOf({ kind: 'sub', n: 1 })).toBe('{"kind":"sub","n":1}')
  expect(wordsOf({ question: 'go on?' })).toBe('{"question":"go on?"}')
  expect(
    wordsOf([
      { type: 'text', text: 'One' },
      { type: 'text', text: 'two' },
    ]),
  ).toBe('One two')
  expect([wordsOf(null), wordsOf(undefined), wordsOf(''), wordsOf(0)]).toEqual(['', '', '', '0'])
  expect(wordsOf('x'.repeat(1000))).toHaveLength(300)
})
