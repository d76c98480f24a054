import { describe, expect, it } from 'vitest'
import { isAfter, isEventId } from './id.ts'

describe('event ids', () => {
  it('are two numbers', () => {
    for (const id of ['0-0', '1763629339123-17']) expect(isEventId(id)).toBe(true)
    for (const other of [
      '',
      '-',
      '-1',
      '1',
      '1-',
      'a-1',
      '1-1-1',
      ' 1-1',
      '1-1\n',
      '1e3-0',
      `${'9'.repeat(16)}-0`,
    ])
      expect([other, isEventId(other)]).toEqual([other, false])
  })

  it('are ordered by both, as numbers', () => {
    for (const [late, early] of [
      ['2-0', '1-9'],
      ['10-0', '9-0'],
      ['5-10', '5-9'],
    ] as const) {
      expect([isAfter(late, early), isAfter(early, late), isAfter(late, late)]).toEqual([true, false, false])
    }
  })
})
