import { describe, expect, it } from 'vitest'
import { followThread, type ThreadEvent } from './follow-thread.ts'

type Try = ThreadEvent[] | Error

const START: ThreadEvent = { event: 'metadata', data: { run_id: 'r' } }
const failed = (status?: number): Error => Object.assign(new Error('failed'), status && { status })

/** Follows a thread over several connections in turn; aborts after the last one. */
async function follow(tries: Try[]) {
  const end = new AbortController()
  const [heard, pauses] = [[] as ThreadEvent[], [] as number[]]
  const refusal = await followThread({
    async *connect() {
      const next = tries.shift()
      if (next === undefined) return end.abort()
      if (next instanceof Error) throw next
      yield* next
    },
    heard: (event) => heard.push(event),
    pause: async (ms) => void pauses.push(ms),
    signal: end.signal,
  })
  return { refusal, heard, pauses, left: tries.length }
}

describe('the stream of a thread', () => {
  it.each([
    [401, /Sign in/],
    [403, /may not read/],
    [404, /does not exist/],
  ])('ends after %s, and says why', async (status, message) => {
    const { refusal, pauses, left } = await follow([[START], failed(status), [START]])
    expect(refusal).toMatch(message)
    expect([pauses, left]).toEqual([[1000], 1])
  })

  it('is opened again when it ends or breaks, later after each failure', async () => {
    const down = [failed(), failed(503), failed(500), failed(), failed(), failed()]
    const { refusal, heard, pauses } = await follow([[START], ...down, [START], failed()])
    expect([refusal, heard]).toEqual([undefined, [START, START]])
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000, 2000, 1000])
  })

  it('is not heard after its reader has left', async () => {
    const left = new AbortController()
    const heard: ThreadEvent[] = []
    await followThread({
      async *connect() {
        left.abort()
        yield START
      },
      heard: (event) => heard.push(event),
      pause: () => Promise.resolve(),
      signal: left.signal,
    })
    expect(heard).toEqual([])
  })
})
