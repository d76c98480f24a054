import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLater } from './later.ts'

describe('an action that is done later', () => {
  const act = vi.fn()
  beforeEach(() => {
    vi.useFakeTimers()
    act.mockClear()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is done once after the pause that the first call began', () => {
    const later = createLater(300, act)
    for (let key = 0; key < 5; key += 1) {
      later.ask()
      vi.advanceTimersByTime(100)
    }
    expect(act).toHaveBeenCalledTimes(1)
  })

  it('§7: is not done between keys, but at the end of them, and after ten pauses at the latest', () => {
    const later = createLater(300, act)
    for (let key = 0; key < 29; key += 1) {
      later.askAgain()
      vi.advanceTimersByTime(100)
    }
    expect(act).not.toHaveBeenCalled()
    vi.advanceTimersByTime(300)
    expect(act).toHaveBeenCalledTimes(1)
    for (let key = 0; key < 60; key += 1) {
      later.askAgain()
      vi.advanceTimersByTime(100)
    }
    expect(act).toHaveBeenCalledTimes(3)
  })

  it('is done at once when it must be, and not again', () => {
    const later = createLater(300, act)
    later.flush()
    expect(act).not.toHaveBeenCalled()
    later.askAgain()
    later.flush()
    vi.runAllTimers()
    expect(act).toHaveBeenCalledTimes(1)
  })
})
