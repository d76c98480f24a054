import { describe, expect, it } from 'vitest'
import { differencesOf } from './state-diff.ts'

describe('the differences of two states', () => {
  it('are named by path, with what was added and removed', () => {
    const before = { a: 1, gone: null, log: ['x', { deep: true }] }
    const after = { a: 1, log: ['x', { deep: false }, 'y'], new: [] }
    expect(differencesOf(before, after)).toEqual([
      { path: 'gone', before: null, after: undefined },
      { path: 'log[1].deep', before: true, after: false },
      { path: 'log[2]', before: undefined, after: 'y' },
      { path: 'new', before: undefined, after: [] },
    ])
  })

  it('#169 are found for states that are null', () => {
    expect(differencesOf(null, {})).toEqual([{ path: '', before: null, after: {} }])
    expect(differencesOf(null, null)).toEqual([])
  })
})
