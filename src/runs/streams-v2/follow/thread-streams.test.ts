import { describe, expect, it } from 'vitest'
import { createMemoryEventLog } from '../../../../test/support/runs/streams/memory-event-store.ts'
import { AppError } from '../../../base/errors.ts'
import { createLogger } from '../../../base/log.ts'
import { RUN_BEGUN } from '../../../events/views.ts'
import type { Call } from '../../runs.ts'
import { EVERYTHING } from '../filter.ts'
import { createStreams, type StreamsDeps } from '../../streams/create-streams.ts'
import { systemClock } from '../../../base/clock.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }
const CALL = { tenant: TENANT, caller: { user_id: null, api_key_id: 'k' }, headers: {} } as unknown as Call

/**
 * Streams of a deployment without the thread `t`, for callers who may or may not read that thread. `ended`: id of their
 * stateless run that ended.
 */
function deployment(mayRead: boolean, ended?: string) {
  const events = createMemoryEventLog(systemClock)
  let isThere = false
  const get = async () => {
    if (!isThere || !mayRead) throw new AppError('not_found')
    return { status: 'busy', interrupts: {} }
  }
  const deps = {
    events,
    threads: { get },
    runs: {
      statelessEnd: async (_call: Call, run_id: string) =>
        run_id === ended ? { run_id, thread_id: 't' } : undefined,
    },
    clock: systemClock,
    logger: createLogger({ level: 'silent' }),
  } as unknown as StreamsDeps
  const streams = createStreams(deps)
  const gone = new AbortController()
  const append = async () => {
    const data = JSON.stringify({ graph_name: 'g', attempt: 1, answered: [] })
    await events.append({ ...TENANT, thread_id: 't' }, [{ run_id: 'r', event: RUN_BEGUN, data }], null)
  }
  return {
    gone,
    follow: (mayReadRun?: (ended?: string) => Promise<unknown>) =>
      streams.followThread(CALL, 't', {
        filter: EVERYTHING,
        after: undefined,
        gone: gone.signal,
        ...(mayReadRun && { mayRead: mayReadRun }),
      }),
    append,
    async begin() {
      isThere = true
      await append()
    },
  }
}

it('the stream of a thread that does not exist is silent until it does (V-28)', async () => {
  const { follow, begin, gone } = deployment(true)
  const batches = (await follow()).batches[Symbol.asyncIterator]()
  const first = batches.next()
  expect(await Promise.race([first, new Promise((r) => setImmediate(() => r('silent')))])).toBe('silent')
  await begin()
  expect((await first).value).toMatchObject([{ method: 'lifecycle', run_id: 'r' }])
  gone.abort()
  expect((await batches.next()).done).toBe(true)
})

it('who may not read the thread gets nothing once it exists, and the stream ends (V-28, V-44)', async () => {
  const { follow, begin } = deployment(false)
  const batches = (await follow()).batches[Symbol.asyncIterator]()
  const first = batches.next()
  await begin()
  expect((await first).done).toBe(true)
})

describe('RUN-19: a stream that is opened after a stateless run', () => {
  it('has its events for the caller that created it', async () => {
    const { follow, append, gone } = deployment(false, 'r')
    await append()
    const batches = (await follow()).batches[Symbol.asyncIterator]()
    expect((await batches.next()).value).toMatchObject([{ method: 'lifecycle', run_id: 'r' }])
    gone.abort()
  })

  it('has none for others, and for users who may not see the thread', async () => {
    const others = deployment(false, 'another run')
    await others.append()
    expect((await (await others.follow()).batches[Symbol.asyncIterator]().next()).done).toBe(true)
    const users = deployment(false, 'r')
    await users.append()
    const asked: (string | undefined)[] = []
    const stream = await users.follow(async (ended) => {
      asked.push(ended)
      throw new AppError('not_found')
    })
    expect((await stream.batches[Symbol.asyncIterator]().next()).done).toBe(true)
    expect(asked.at(-1)).toBe('r')
  })
})
