import { expect, it } from 'vitest'
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

/** Streams of a deployment without the thread `t`, for callers who may or may not read that thread. */
function deployment(mayRead: boolean) {
  const events = createMemoryEventLog(systemClock)
  let isThere = false
  const get = async () => {
    if (!isThere || !mayRead) throw new AppError('not_found')
    return { status: 'busy', interrupts: {} }
  }
  const deps = {
    events,
    threads: { get },
    runs: {},
    clock: systemClock,
    logger: createLogger({ level: 'silent' }),
  } as unknown as StreamsDeps
  const streams = createStreams(deps)
  const gone = new AbortController()
  return {
    gone,
    follow: () =>
      streams.followThread(CALL, 't', { filter: EVERYTHING, after: undefined, gone: gone.signal }),
    async begin() {
      isThere = true
      const data = JSON.stringify({ graph_name: 'g', attempt: 1, answered: [] })
      await events.append({ ...TENANT, thread_id: 't' }, [{ run_id: 'r', event: RUN_BEGUN, data }], null)
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
