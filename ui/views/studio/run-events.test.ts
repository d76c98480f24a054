import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRunEvents } from './run-events.ts'

describe('the events of a run (§7)', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('are all counted, and drawn once for many of them', () => {
    const events = createRunEvents()
    const listener = vi.fn()
    events.custom.subscribe(listener)
    for (let n = 0; n < 20_000; n += 1) events.addCustom({ n })
    expect(listener).not.toHaveBeenCalled()
    vi.runAllTimers()
    expect(listener).toHaveBeenCalledTimes(1)
    const { count, newest } = events.custom.current()
    expect([count, newest.length, newest.at(-1)]).toEqual([20_000, 100, { n: 19_999 }])
    expect(events.custom.current()).toBe(events.custom.current())
  })

  it('draw only those who read what has changed', () => {
    const events = createRunEvents()
    const listener = vi.fn()
    const end = events.nodes.subscribe(listener)
    events.addCustom(1)
    vi.runAllTimers()
    expect(listener).not.toHaveBeenCalled()
    events.addTask({ id: 't', name: 'node' }, undefined)
    vi.runAllTimers()
    expect(listener).toHaveBeenCalledTimes(1)
    expect(events.nodes.current().get('node')?.state).toBe('running')
    end()
    events.clear()
    vi.runAllTimers()
    expect(listener).toHaveBeenCalledTimes(1)
    expect([events.nodes.current().size, events.custom.current().count]).toEqual([0, 0])
  })
})
