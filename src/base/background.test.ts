import { describe, expect, it } from 'vitest'
import { startSweeps, startWhenReady } from './background.ts'
import { aborted } from './pause.ts'

describe('startWhenReady', () => {
  it('starts the work when ready, aborts its signal at the stop, and waits for its end', async () => {
    const { promise: ready, resolve: isReady } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    let ended = false
    const stop = startWhenReady(ready, async (signal) => {
      begin()
      await aborted(signal)
      ended = true
    })
    isReady()
    await begun
    expect(ended).toBe(false)
    await stop()
    expect(ended).toBe(true)
  })

  it('does not start the work after a stop', async () => {
    let started = false
    const stop = startWhenReady(new Promise(() => undefined), async () => {
      started = true
    })
    await stop()
    expect(started).toBe(false)
  })
})

describe('startSweeps', () => {
  it('never sweeps twice at the same time, and a stop waits for the running sweep', async () => {
    let running = 0
    const sweeps = startSweeps(
      1e6,
      async (signal) => {
        running++
        await aborted(signal)
        return running--
      },
      () => undefined,
    )
    const both = [sweeps.sweep(), sweeps.sweep()]
    expect(running).toBe(1)
    await sweeps.stop()
    expect(running).toBe(0)
    expect(await Promise.all(both)).toEqual([1, 1])
  })

  it('passes errors of timed sweeps on, and continues', async () => {
    const { promise: twice, resolve } = Promise.withResolvers<unknown>()
    let failures = 0
    const fail = async (): Promise<number> => {
      throw new Error('no')
    }
    const sweeps = startSweeps(1, fail, (error) => {
      if (++failures === 2) resolve(error)
    })
    expect(await twice).toMatchObject({ message: 'no' })
    await sweeps.stop()
  })
})
