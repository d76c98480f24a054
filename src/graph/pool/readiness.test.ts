import { expect, it, vi } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { Readiness } from './readiness.ts'

it('hosts that end by themselves soon after their start are started less and less often', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const readiness = new Readiness(createLogger({ level: 'silent' }))
    const pauses = Array.from({ length: 9 }, () => {
      readiness.opened([])
      readiness.ended(10, 'It ended.')
      return readiness.restartPauseMs
    })
    expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    vi.advanceTimersByTime(60_000)
    expect(readiness.restartPauseMs).toBe(0)
    // A host that has lived for long ends the series.
    readiness.ended(61_000, 'It ended.')
    readiness.ended(10, 'It ended.')
    expect(readiness.restartPauseMs).toBe(0)
    readiness.ended(10, 'It ended.')
    expect(readiness.pauseMs).toBe(1_000)
    readiness.reset()
    expect(readiness.pauseMs).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
