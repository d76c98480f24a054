import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readResidentBytes, watchMemory } from './memory-watch.ts'

const MIB = 1 << 20

describe('P-24: watchMemory', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('ends processes beyond the bound, and no others, until it is stopped', async () => {
    const ended: string[] = []
    const memory = new Map<number, number | undefined>([
      [1, 99 * MIB],
      [2, 100 * MIB + 1],
      [3, undefined],
    ])
    const processes = [1, 2, 3].map((pid) => ({
      pid,
      endForMemory: (message: string) => void ended.push(`${pid}: ${message}`),
    }))
    const stop = watchMemory(
      () => processes,
      100 * MIB,
      (pid) => memory.get(pid),
    )
    await vi.advanceTimersByTimeAsync(2_000)
    expect(ended).toEqual(['2: The graph host used 101 MiB of memory; it may use 100.'])
    stop()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ended).toHaveLength(1)
  })
})

describe('readResidentBytes', () => {
  it.skipIf(process.platform !== 'linux')('reads this process; undefined for one that is gone', () => {
    expect(readResidentBytes(process.pid)).toBeGreaterThan(20 * MIB)
    expect(readResidentBytes(2 ** 30)).toBeUndefined()
  })
})
