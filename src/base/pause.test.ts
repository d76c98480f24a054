import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { aborted, pause } from './pause.ts'

describe('pause', () => {
  it('ends by itself and leaves nothing on the signal', async () => {
    const { signal } = new AbortController()
    await pause(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('ends with its signal, or at once when the signal is aborted or the time is 0', async () => {
    const end = new AbortController()
    const long = pause(2 ** 31 - 1, end.signal)
    await pause(0, end.signal)
    end.abort()
    await long
    await pause(2 ** 31 - 1, end.signal)
  })
})

describe('aborted', () => {
  it('waits for the signal, also for one that has ended', async () => {
    const end = new AbortController()
    const waiting = aborted(end.signal)
    end.abort()
    await waiting
    await aborted(end.signal)
  })
})
