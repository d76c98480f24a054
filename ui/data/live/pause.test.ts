import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pause } from './pause.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('a pause ends after its time and leaves no listener on the signal', async () => {
  const { signal } = new AbortController()
  const ended = pause(1000, signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1000)
  await ended
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('a pause ends with the abort, and leaves neither a timer nor a listener', async () => {
  const ending = new AbortController()
  const ended = pause(1000, ending.signal)
  ending.abort()
  await ended
  expect([vi.getTimerCount(), getEventListeners(ending.signal, 'abort')]).toEqual([0, []])
})
