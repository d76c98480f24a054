import { describe, expect, it } from 'vitest'
import { issuePath } from './issue-path.ts'

describe('issuePath', () => {
  const value = { messages: [{ role: 1, '0': { 'a.b': 2, 'c/d~e': 3 } }] }
  it.each([
    ['', undefined, ''],
    ['', 'messages', 'messages'],
    ['/messages/0/role', undefined, 'messages[0].role'],
    ['/messages/0/0/a.b', undefined, 'messages[0]["0"]["a.b"]'],
    ['/messages/0/0/c~1d~0e', 'x', 'messages[0]["0"]["c/d~e"].x'],
    ['/gone/deep', undefined, 'gone.deep'],
  ])('%s + %s', (pointer, last, expected) => {
    expect(issuePath(value, pointer, last)).toBe(expected)
  })
})
