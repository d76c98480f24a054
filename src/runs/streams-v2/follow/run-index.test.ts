import { expect, it } from 'vitest'
import { createLogger } from '../../../base/log.ts'
import { createMetrics } from '../../../base/metrics.ts'
import { createEventLog } from '../../../events/create-event-log.ts'
import type { ThreadRef } from '../../../events/event-log.ts'
import { RUN_BEGUN, RUN_DONE, RUN_ENDING } from '../../../events/views.ts'
import { createMemoryEventStore } from '../../../../test/support/runs/streams/memory-event-store.ts'
import { createRunIndex } from './run-index.ts'
import { systemClock } from '../../../base/clock.ts'

const THREAD: ThreadRef = { workspace_id: 'w', deployment_id: 'd', thread_id: 't' }
const BOUNDS = { events: 4, chars: 1e6, age_ms: 1e9, total_chars: 1e9 }

function newLog() {
  const bounds = { ...BOUNDS }
  const store = createMemoryEventStore(systemClock, bounds)
  const events = createEventLog({
    store,
    logger: createLogger({ level: 'silent' }),
    metrics: createMetrics(),
  })
  let reads = 0
  const counting = {
    last: events.last.bind(events),
    total: events.total.bind(events),
    read(...args: Parameters<typeof events.read>) {
      reads++
      return events.read(...args)
    },
  }
  const say = (run_id: string, event: string) => events.append(THREAD, [{ run_id, event, data: '{}' }], null)
  const trim = (changed: Partial<typeof BOUNDS> = {}) => {
    Object.assign(bounds, changed)
    return store.trim(THREAD)
  }
  return { events, say, trim, index: createRunIndex(counting), reads: () => reads }
}

it('knows where runs begin and end, and reads only what was added (V-29)', async () => {
  const { events, say, index, reads } = newLog()
  expect(await index.of(THREAD)).toMatchObject({ runs: [], total: 0 })
  await say('a', 'metadata')
  await say('a', RUN_BEGUN)
  await say('a', 'values')
  expect((await index.of(THREAD)).runs).toMatchObject([{ run_id: 'a', position: 1, end: undefined }])
  await say('a', RUN_BEGUN)
  await say('a', RUN_DONE)
  await say('b', RUN_BEGUN)
  const [first, second] = await Promise.all([index.of(THREAD), index.of(THREAD)])
  expect(first).toEqual(second)
  expect(first).toMatchObject({ total: 6, runs: [{ position: 1, end: { position: 4 } }, { position: 5 }] })
  expect(reads()).toBe(2)
  await events.close()
})

it('V-29: a run that ended without an attempt hides no run whose beginning is not kept', async () => {
  const { events, say, index } = newLog()
  for (const event of [RUN_ENDING, RUN_DONE]) await say('cancelled', event)
  await say('cut', 'values')
  expect((await index.of(THREAD)).runs).toMatchObject([
    { run_id: 'cancelled', begun_at: 0, end: { position: 1 } },
    { run_id: 'cut', position: 2, end: undefined },
  ])
  await events.close()
})

it('the log of another thread with the same id is read anew', async () => {
  const { events, say, index } = newLog()
  for (const event of [RUN_BEGUN, 'values', RUN_DONE]) await say('old', event)
  await index.of(THREAD)
  await events.drop(THREAD)
  expect(await index.of(THREAD)).toMatchObject({ runs: [], total: 0 })
  for (const event of [...Array.from({ length: 4 }, () => 'metadata'), RUN_BEGUN]) await say('new', event)
  expect((await index.of(THREAD)).runs).toMatchObject([{ run_id: 'new', position: 4 }])
  await events.close()
})

it('after entries that were trimmed before they were read, it knows what a new server would know (V-29, V-30)', async () => {
  const { events, say, index, trim } = newLog()
  for (const event of [RUN_BEGUN, 'values']) await say('a', event)
  await index.of(THREAD)
  await say('a', RUN_DONE)
  for (const event of [RUN_BEGUN, 'values', 'values', 'values', RUN_DONE]) await say('b', event)
  await trim()
  const known = await index.of(THREAD)
  const runs = [{ run_id: 'b', position: 4, end: { position: 7 } }]
  expect(known).toMatchObject({ runs, oldest: { position: 4 }, total: 8 })
  expect(known).toEqual(await createRunIndex(events).of(THREAD))
  await say('c', RUN_BEGUN)
  expect((await index.of(THREAD)).runs).toMatchObject([...runs, { run_id: 'c', end: undefined }])
  await say('c', RUN_DONE)
  await trim({ age_ms: -1 })
  expect(await index.of(THREAD)).toMatchObject({ runs: [], total: 10 })
  await say('d', RUN_BEGUN)
  expect((await index.of(THREAD)).runs).toMatchObject([{ run_id: 'd', position: 10 }])
  await events.close()
})
