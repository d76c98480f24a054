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

it('RUN-35: graphs that cannot be loaded are tried less and less often, and told once', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const lines: string[] = []
    const logger = createLogger({ destination: { write: (line) => void lines.push(line) } })
    const readiness = new Readiness(logger)
    const failure = {
      graph_id: 'g',
      file: '/g.py',
      line: 1,
      reason: 'r',
      message: 'Graph "g" cannot be loaded: r',
    }
    const pauses = Array.from({ length: 8 }, () => {
      readiness.failed(failure.message, [failure])
      return readiness.ownPauseMs
    })
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    expect(lines).toHaveLength(1)
    // A caller need not wait as long: what was missing may be there now.
    expect(readiness.pauseMs).toBe(1_000)
    readiness.failed('LangGraph 0.4.5 is installed.', [])
    readiness.failed('LangGraph 0.4.5 is installed.', [])
    expect(lines).toHaveLength(2)
    readiness.opened([])
    expect([readiness.ownPauseMs, readiness.pauseMs]).toEqual([0, 0])
    readiness.failed(failure.message, [failure])
    expect([readiness.ownPauseMs, lines.length]).toEqual([1_000, 2])
    readiness.reset()
    readiness.failed(failure.message, [failure])
    expect(lines).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})
