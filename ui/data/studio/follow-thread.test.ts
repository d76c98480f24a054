import { describe, expect, it } from 'vitest'
import { followThread, type ThreadEvent } from './follow-thread.ts'

type Try = ThreadEvent[] | Error

const START: ThreadEvent = { event: 'metadata', data: { run_id: 'r' } }
const failed = (status?: number): Error => Object.assign(new Error('failed'), status && { status })

/** Follows a thread over several connections in turn; aborts after the last one. */
async function follow(tries: Try[]) {
  const end = new AbortController()
  const [events, pauses] = [[] as ThreadEvent[], [] as number[]]
  const refusal = await followThread({
    async *connect() {
      const next = tries.shift()
      if (next === undefined) return end.abort()
      if (next instanceof Error) throw next
      yield* next
    },
    onEvent: (event) => events.push(event),
    pause: async (ms) => void pauses.push(ms),
    signal: end.signal,
  })
  return { refusal, events, pauses, left: tries.length }
}

describe('the stream of a thread', () => {
  it.each([
    [401, /Sign in and reload the page, or set another token/],
    [403, /may not read/],
  ])('ends after %s, and says why', async (status, message) => {
    const { refusal, pauses, left } = await follow([[START], failed(status), [START]])
    expect(refusal).toMatch(message)
    expect([pauses, left]).toEqual([[1000], 1])
  })

  it('ends after the fourth 404 in a row: a server that has just started may not know its deployments yet', async () => {
    const missing = (count: number): Try[] => Array.from({ length: count }, () => failed(404))
    const started = [...missing(3), [START], ...missing(3), [], ...missing(3), failed(503), ...missing(3)]
    const { refusal, events } = await follow([...started])
    expect([refusal, events]).toEqual([undefined, [START]])
    const { refusal: final, pauses, left } = await follow([[START], ...missing(4), [START]])
    expect(final).toMatch(/does not exist/)
    expect([pauses, left]).toEqual([[1000, 2000, 4000, 8000], 1])
  })

  it('is opened again when it ends or breaks, later after each failure', async () => {
    const down = [failed(), failed(503), failed(500), failed(), failed(), failed()]
    const { refusal, events, pauses } = await follow([[START], ...down, [START], failed()])
    expect([refusal, events]).toEqual([undefined, [START, START]])
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000, 2000, 1000])
  })

  it('ends with the abort: events after it are dropped', async () => {
    const left = new AbortController()
    const events: ThreadEvent[] = []
    await followThread({
      async *connect() {
        left.abort()
        yield START
      },
      onEvent: (event) => events.push(event),
      pause: () => Promise.resolve(),
      signal: left.signal,
    })
    expect(events).toEqual([])
  })
})
