import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createLogger } from '../../src/base/log.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import type { EventLog, RunLease, ThreadRef } from '../../src/events/event-log.ts'
import { runDone } from '../../src/runs/run-done.ts'
import { startEventLog } from '../../src/start-event-log.ts'
import type { Database } from '../../src/storage/sql/database.ts'
import { openRunDatabase } from '../../src/storage/sql/open-run-database.ts'
import { createRunStore } from '../../src/storage/sql/run-store.ts'
import { eventually } from '../support/eventually.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { endOf, started, TENANT } from '../support/run-store.ts'

const LOGGER = createLogger({ level: 'silent' })
const REASON = hasRedis() ? '' : ' (Redis is not installed)'

function newThread(): ThreadRef {
  return { ...TENANT, thread_id: randomUUID() }
}

function event(data: string, run_id: string) {
  return { event: 'values', data, run_id }
}

/** Names of all events of a thread until its first run's end. */
async function readToEnd(events: EventLog, thread: ThreadRef): Promise<string[]> {
  const names: string[] = []
  for await (const batch of events.read(thread, 'start', new AbortController().signal)) {
    for (const item of batch) names.push('gap' in item ? 'gap' : item.event)
    if (names.includes('run_done')) break
  }
  return names
}

describe.skipIf(REASON !== '')(`events in Redis, runs in SQL${REASON}`, () => {
  let server: RedisServer
  let url = ''
  beforeAll(async () => {
    server = await startRedis()
    url = await server.url()
  })
  afterAll(async () => await server.stop())

  async function openDatabase(): Promise<Database> {
    const database = await openRunDatabase({ url: undefined, file: ':memory:' })
    onTestFinished(() => database.close())
    return database
  }

  function openLog(database: Database) {
    const config = { databaseUrl: undefined, redisUrl: url }
    const opened = startEventLog({ config, logger: LOGGER, metrics: createMetrics(), database })
    return { ...opened, store: createRunStore(database, systemClock, opened.runEvents) }
  }

  it('lets only the latest attempt of a run append, and nobody when it has ended', async () => {
    const { events, stop } = openLog(await openDatabase())
    onTestFinished(stop)
    const thread = newThread()
    const run_id = randomUUID()
    const lease = (attempt: number, token: string): RunLease => ({ run_id, attempt, token })
    const append = async (one: RunLease): Promise<boolean> =>
      (await events.append(thread, [event('1', run_id)], one)) !== 'lost'
    expect(await append(lease(1, 'a'))).toBe(true)
    expect(await append(lease(1, 'b'))).toBe(false)
    expect(await append(lease(2, 'b'))).toBe(true)
    expect(await append(lease(1, 'a'))).toBe(false)
    expect(await append(lease(2, 'b'))).toBe(true)
    await events.append(thread, [runDone(run_id, 'success')], null)
    expect(await append(lease(2, 'b'))).toBe(false)
    expect(await append(lease(1, 'a'))).toBe(false)
    // Another run may be given the id of one that was deleted.
    expect(await append(lease(1, 'c'))).toBe(true)
  })

  it('has the end of a run as soon as it can, and once, whatever stops on the way', async () => {
    const database = await openDatabase()
    const before = openLog(database)
    const thread = newThread()
    const claim = await started(before.store, thread.thread_id)
    await before.events.append(thread, [event('1', claim.run_id)], { ...claim, attempt: 1 })
    await server.kill()
    await before.store.finish(claim, endOf('success'))
    expect(await database.query('SELECT thread_id FROM event_outbox')).toEqual([
      { thread_id: thread.thread_id },
    ])
    // As a process that dies here, and two that come after it.
    await server.start()
    const after = [openLog(database), openLog(database)]
    for (const { stop } of [before, ...after]) onTestFinished(stop)
    for (const { events } of after) expect(await readToEnd(events, thread)).toEqual(['values', 'run_done'])
    await eventually(async () => expect(await database.query('SELECT 1 FROM event_outbox')).toEqual([]))
    for (const { events } of after) expect(await readToEnd(events, thread)).toEqual(['values', 'run_done'])
  })
})
