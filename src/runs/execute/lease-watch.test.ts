import { describe, expect, it } from 'vitest'
import { createLeaseWatch } from './lease-watch.ts'

describe('a watch over leases', () => {
  /**
   * Checks a lease with these expiry times every second; returns the number of checks until the lease counts as
   * expired.
   */
  function looksUntilDead(ends: readonly number[], gaps: readonly number[] = []): number | undefined {
    let now = 0
    const watch = createLeaseWatch(3_000, () => now)
    for (const [at, lease_until] of ends.entries()) {
      now += gaps[at] ?? 1_000
      if (watch.look([{ token: 't', lease_until }]).has('t')) return at + 1
    }
    return undefined
  }

  it.each([
    ['is of the past', 10],
    ['is of the future', Date.now() + 1e9],
  ])('reports a lease that stays the same for its time, also when it %s', (_when, until) => {
    expect(looksUntilDead([until, until, until, until, until])).toBe(4)
  })

  it('never reports a renewed lease, for any clock of its owner', () => {
    expect(looksUntilDead([9, 9, 9, 1, 1, 1, 9, 9, 9, 5, 5, 5])).toBeUndefined()
  })

  it('starts again after a time in which leases could be neither checked nor renewed', () => {
    expect(looksUntilDead([9, 9, 9, 9, 9, 9, 9], [0, 1_000, 1_000, 60_000])).toBe(7)
  })

  it('starts again after a gap that leaves its owner too little time to renew', () => {
    expect(looksUntilDead([9, 9, 9, 9, 9, 9], [0, 1_000, 2_000])).toBe(6)
  })

  it('forgets ended runs', () => {
    let now = 0
    const watch = createLeaseWatch(3_000, () => now)
    watch.look([{ token: 't', lease_until: 9 }])
    watch.look([])
    now = 3_000
    expect(watch.look([{ token: 't', lease_until: 9 }]).size).toBe(0)
  })
})
