import { describe, expect, it } from 'vitest'
import { createLane } from './lane.ts'

describe('a lane', () => {
  it('serves in order of arrival, as many callers at a time as it has resources', async () => {
    const lane = createLane('test', ['a', 'b'], 10)
    const served: number[] = []
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        lane.run(async () => {
          served.push(i)
          inside += 1
          most = Math.max(most, inside)
          await new Promise(setImmediate)
          inside -= 1
        }),
      ),
    )
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(most).toBe(2)
    expect(lane.busy).toBe(0)
  })

  it('refuses callers beyond its limit, and frees the resource of a caller that fails', async () => {
    const lane = createLane('test', ['only'], 1)
    const gate = Promise.withResolvers<void>()
    const first = lane.run(() => gate.promise)
    const second = lane.run(async (thing) => thing)
    await expect(lane.run(async () => 'never')).rejects.toMatchObject({ clickhouseCode: 202 })
    gate.reject(new Error('failed'))
    await expect(first).rejects.toThrow('failed')
    expect(await second).toBe('only')
    await lane.idle()
  })

  it('removes a caller that leaves the queue', async () => {
    const lane = createLane('test', ['only'], 5)
    const gate = Promise.withResolvers<void>()
    const first = lane.run(() => gate.promise)
    const controller = new AbortController()
    const second = lane.run(async () => 'second', controller.signal)
    const third = lane.run(async () => 'third')
    controller.abort(new Error('left'))
    await expect(second).rejects.toThrow('left')
    const idle = lane.idle()
    gate.resolve()
    expect(await third).toBe('third')
    await Promise.all([first, idle])
    await expect(lane.run(async () => 'late', controller.signal)).rejects.toThrow('left')
  })
})
