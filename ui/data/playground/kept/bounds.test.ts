import { describe, expect, it } from 'vitest'
import { tooMany } from './bounds.ts'

const DAY = 24 * 3_600_000
const NOW = 100 * DAY
const MIB = 1 << 20

describe('the drafts that a browser keeps', () => {
  it('are at most 40, the newest ones', () => {
    const entries = Array.from({ length: 45 }, (_, at) => ({ key: `${at}`, at: NOW - at, bytes: 10 }))
    expect(tooMany(entries, NOW)).toEqual(['40', '41', '42', '43', '44'])
  })

  it('have at most 64 MiB, of which one draft alone may have more', () => {
    const sizes = [70, 1, 1].map((mib, at) => ({ key: `${at}`, at: NOW - at, bytes: mib * MIB }))
    expect(tooMany(sizes, NOW)).toEqual(['1', '2'])
    const small = [30, 30, 5, 1].map((mib, at) => ({ key: `${at}`, at: NOW - at, bytes: mib * MIB }))
    expect(tooMany(small, NOW)).toEqual(['2', '3'])
  })

  it('are at most seven days old', () => {
    const entries = [6, 8].map((days) => ({ key: `${days}`, at: NOW - days * DAY, bytes: 1 }))
    expect(tooMany(entries, NOW)).toEqual(['8'])
  })
})
