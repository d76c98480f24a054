import { describe, expect, it } from 'vitest'
import { startTurns, startWhenReady } from './background.ts'
import { aborted } from '../pause.ts'

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

describe('startTurns', () => {
  it('begins the next turn after the time that a turn returns, or when it is woken', async () => {
    const begun: PromiseWithResolvers<void>[] = [1, 2, 3].map(() => Promise.withResolvers())
    const pauses = [0, undefined, 1e6]
    let count = 0
    const turns = startTurns(Promise.resolve(), async () => {
      begun[count]?.resolve()
      return pauses[count++]
    })
    await begun[1]?.promise
    turns.wake()
    await begun[2]?.promise
    await turns.stop()
    expect(count).toBe(3)
  })

  it('begins another turn directly after one during which it was woken', async () => {
    const second = Promise.withResolvers<void>()
    let count = 0
    const turns = startTurns(Promise.resolve(), async () => {
      if (++count === 1) turns.wake()
      else second.resolve()
      return undefined
    })
    await second.promise
    await turns.stop()
    expect(count).toBe(2)
  })

  it('stops before it is ready, and waits for the end of the turn that runs', async () => {
    let count = 0
    const turn = async (): Promise<number> => ++count
    await startTurns(new Promise(() => undefined), turn).stop()
    expect(count).toBe(0)

    const begun = Promise.withResolvers<void>()
    const turns = startTurns(Promise.resolve(), async () => {
      begun.resolve()
      await aborted(turns.signal)
      return ++count
    })
    await begun.promise
    await turns.stop()
    expect(count).toBe(1)
  })
})
