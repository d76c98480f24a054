import { describe, expect, it } from 'vitest'
import { createFairQueue } from './fair-queue.ts'

const LIMITS = { at_once: 2, at_once_per_key: 1, waiting_per_key: 3 }

/** A queue that records the order in which it admits keys. */
function createDoor(limits = LIMITS) {
  const queue = createFairQueue(limits)
  const inside: string[] = []
  const leaves = new Map<string, () => void>()
  const enter = async (name: string, gone?: AbortSignal): Promise<void> => {
    const leave = await queue.enter(name.charAt(0), gone)
    inside.push(name)
    leaves.set(name, leave)
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    queue,
    inside,
    enter,
    turn,
    async leave(name: string) {
      leaves.get(name)?.()
      await turn()
    },
  }
}

describe('a fair queue', () => {
  it('admits keys in turn, however many entries one key has waiting', async () => {
    const { inside, enter, leave, turn } = createDoor()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void enter(name)
    await turn()
    expect(inside).toEqual(['a1', 'b1'])
    await leave('a1')
    await leave('b1')
    expect(inside).toEqual(['a1', 'b1', 'a2', 'b2'])
    await leave('a2')
    await leave('b2')
    expect(inside.slice(4)).toEqual(['c1', 'a3'])
  })

  it('reserves places for other keys when one key is at its limit', async () => {
    const { inside, enter, turn } = createDoor()
    for (const name of ['a1', 'a2']) void enter(name)
    await turn()
    expect(inside).toEqual(['a1'])
  })

  it('refuses only the key that has too many entries waiting', async () => {
    const { queue, inside, enter, turn } = createDoor()
    for (const name of ['a1', 'a2', 'a3', 'a4']) void enter(name)
    await turn()
    await expect(queue.enter('a')).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
    await enter('b1')
    expect(inside).toEqual(['a1', 'b1'])
  })

  it('drops an entry whose caller disconnected, and releases a place only once', async () => {
    const { queue, inside, enter, leave, turn } = createDoor()
    const gone = new AbortController()
    void enter('a1')
    const second = enter('a2', gone.signal)
    void enter('a3')
    await turn()
    gone.abort()
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    await leave('a1')
    await leave('a1')
    expect(inside).toEqual(['a1', 'a3'])
    await expect(queue.enter('b', gone.signal)).rejects.toMatchObject({ name: 'AbortError' })
  })
})
