import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/problem.ts'
import type { ServerEvent } from '../../api/server-events.ts'
import { followLive, type LiveState } from './follow.ts'

const OPEN: ServerEvent = { event: 'open', data: '{}' }

type Try = ServerEvent[] | Error

/** Follows a stream over several connections in turn; ends after the last one. */
async function follow(tries: Try[]): Promise<{ states: LiveState[]; pauses: number[]; events: string[] }> {
  const end = new AbortController()
  const [states, pauses, events] = [[] as LiveState[], [] as number[], [] as string[]]
  await followLive({
    async *connect() {
      const next = tries.shift()
      if (next === undefined) return end.abort()
      if (next instanceof Error) throw next
      yield* next
    },
    onEvent: ({ event }) => events.push(event),
    onState: (state) => states.push(state),
    pause: async (ms) => void pauses.push(ms),
    signal: end.signal,
  })
  return { states, pauses, events }
}

describe('a followed stream', () => {
  it('is opened again at once when the server ends it, without being called broken', async () => {
    const { states, pauses } = await follow([[OPEN], [OPEN]])
    expect(states).toEqual(['live', 'live'])
    expect(pauses.every((ms) => ms < 1000)).toBe(true)
  })

  it('waits longer after each failure, up to half a minute, and starts anew after a success', async () => {
    const down = new ApiError('down', { status: 0, code: 'unreachable' })
    const { states, pauses } = await follow([...Array.from({ length: 10 }, () => down), [OPEN], down])
    expect(states.filter((state) => state === 'live')).toHaveLength(1)
    for (const [place, ms] of pauses.slice(0, 5).entries())
      expect(ms).toBeGreaterThanOrEqual(375 * 2 ** place)
    expect(Math.max(...pauses)).toBeLessThan(40_000)
    expect(pauses.at(-1)).toBeLessThan(1300)
  })

  it('waits as long as the server wants', async () => {
    const busy = new ApiError('busy', { status: 429, code: 'too_many_streams', retry_after: 60 })
    expect((await follow([busy])).pauses).toEqual([60_000])
  })

  it('gives up where the server refuses it', async () => {
    const refused = new ApiError('no', { status: 403, code: 'forbidden' })
    const { states, pauses } = await follow([refused, [OPEN]])
    expect([states, pauses]).toEqual([['off'], []])
  })
})
