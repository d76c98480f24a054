import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { createSweeps } from '../../../src/base/background/sweeps.ts'
import type { EventLog, RunLease, ThreadRef } from '../../../src/events/event-log.ts'
import { RUN_BEGUN } from '../../../src/events/views.ts'
import { runDone } from '../../../src/runs/execute/end-event.ts'
import { startEventLog } from '../../../src/hosting/run-state/event-log.ts'
import { openRedis } from '../../../src/storage/redis/redis.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { openRunDatabase } from '../../../src/storage/sql/driver/open-run-database.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { doneWith } from '../../support/runs/hosts/fake-graph-host.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisServer, startRedis, startSentinel, withoutRedis } from '../../support/stores/redis.ts'
import { endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { openRunWorld } from '../../support/runs/world.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const LOGGER = createLogger({ level: 'silent' })
const REASON = withoutRedis()

function newThread(): ThreadRef {
  return { ...TENANT, thread_id: randomUUID() }
}

function event(data: string, run_id: string) {
  return { event: 'values', data, run_id }
}

/** Passes calls on to the log. Each failed `check` of whether the log accepts events calls `failed`. */
function watching(events: EventLog, failed: () => void): EventLog {
  return {
    append: (...args) => events.append(...args),
    read: (...args) => events.read(...args),
    drop: (...args) => events.drop(...args),
    last: (...args) => events.last(...args),
    total: (...args) => events.total(...args),
    async check(thread) {
      return await events.check(thread).catch((error: unknown) => {
        failed()
        throw error
      })
    },
  }
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

  async function openLog(database: Database, redisUrl = url, clock?: Clock) {
    const config = { databaseUrl: undefined, redisUrl, eventsMaxBytes: 1 << 30 }
    const installation = { claim: async () => async () => undefined }
    const metrics = createMetrics()
    const sweeps = createSweeps({ logger: LOGGER, metrics })
    const own = { config, logger: LOGGER, metrics, sweeps, database, installation }
    const parts = { ...own, ...(clock && { clock }) }
    const opened = await startEventLog(parts)
    return { ...opened, store: createRunStore(database, systemClock, opened.runEvents) }
  }

  it('lets only the latest attempt of a run append, and no attempt of an ended run', async () => {
    const { events, stop } = await openLog(await openDatabase())
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
    // A new run may have the id of a deleted one.
    expect(await append(lease(1, 'c'))).toBe(true)
  })

  it('appends once, for any result of concurrent appends', async () => {
    const { events, stop } = await openLog(await openDatabase())
    onTestFinished(stop)
    const threads = [newThread(), newThread(), newThread()] as const
    const { workspace_id, deployment_id, thread_id } = threads[1]
    const redis = openRedis(url, LOGGER)
    await redis.command('SET', `weir:{${workspace_id}/${deployment_id}/${thread_id}}:log`, 'no log')
    await redis.close()
    const appends = threads.map((thread) => events.append(thread, [event('1', randomUUID())], null))
    for (const append of appends) await append.catch(() => undefined)
    await events.append(threads[0], [runDone(randomUUID(), 'success')], null)
    expect(await readToEnd(events, threads[0])).toEqual(['values', 'run_done'])
    await expect(events.last(threads[1])).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it('reads the log after a notification that it cannot parse', async () => {
    const [one, two] = [await openLog(await openDatabase()), await openLog(await openDatabase())]
    for (const { stop } of [one, two]) onTestFinished(stop)
    const thread = newThread()
    const reading = readToEnd(two.events, thread)
    const redis = openRedis(url, LOGGER)
    for (const word of ['{', 'null', '7']) {
      await eventually(async () =>
        expect(await redis.command('PUBLISH', 'weir:events', word)).toBeGreaterThan(1),
      )
    }
    await redis.close()
    await one.events.append(thread, [runDone(randomUUID(), 'success')], null)
    expect(await reading).toEqual(['run_done'])
  })

  const away = { begin: () => server.kill(), end: () => server.start() }
  const full = { begin: () => limitMemory(1), end: () => limitMemory(0) }
  async function limitMemory(bytes: number): Promise<void> {
    const redis = openRedis(url, LOGGER)
    await redis.command('CONFIG', 'SET', 'maxmemory', bytes)
    await redis.close()
  }

  it.each([
    ['away', away],
    ['full', full],
  ])('does not use up the attempts of a run while it is %s', async (_how, trouble) => {
    const { events, store, stop } = await openLog(await openDatabase())
    onTestFinished(stop)
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const state = { store, events: watching(events, ask) }
    const world = await openRunWorld({ state, rules: { max_attempts: 2 } })
    const { runs, call, fake } = world
    fake.play((job) => {
      job.items(['metadata', { attempt: job.job.run.attempt }], ['values', 1])
      job.end(doneWith({ n: 1 }))
    })
    const thread_id = await world.thread()
    await trouble.begin()
    const { run_id } = await runs.create(call, thread_id, { assistant_id: 'agent', input: {} })
    await asked
    await trouble.end()
    await eventually(async () => expect((await runs.get(call, thread_id, run_id)).status).toBe('success'))
    const names = await readToEnd(events, { ...call.tenant, thread_id })
    expect(names).toEqual(['metadata', RUN_BEGUN, 'values', 'run_done', 'state_update'])
  })

  it('a run fails with a code when it stays away for too long, and its stream ends once it is back', async () => {
    const { events, store, stop } = await openLog(await openDatabase())
    onTestFinished(stop)
    const world = await openRunWorld({ state: { store, events }, rules: { unlogged_ms: 400 } })
    const { runs, call, fake } = world
    fake.play((job) => {
      job.items(['metadata', { attempt: job.job.run.attempt }], ['values', 1])
      job.end(doneWith({ n: 1 }))
    })
    const thread_id = await world.thread()
    await server.kill()
    const { run_id } = await runs.create(call, thread_id, { assistant_id: 'agent', input: {} })
    await eventually(async () => expect((await runs.get(call, thread_id, run_id)).status).toBe('error'))
    expect((await store.getRun(call.tenant, thread_id, run_id))?.error).toEqual({
      error: 'EventStoreUnavailable',
      message: expect.stringContaining('0.4 s'),
    })
    await server.start()
    const names = await readToEnd(events, { ...call.tenant, thread_id })
    expect(names).toEqual(expect.arrayContaining(['error', 'run_done']))
  })

  it('refuses a Redis Cluster, and a Redis Sentinel without the name of its primary, with words', async () => {
    // By default a cluster node also uses the port that is 10,000 higher, which another process may occupy.
    const cluster = await startRedis({ 'cluster-enabled': 'yes', 'cluster-port': `${await fixedPort()}` })
    onTestFinished(() => cluster.stop())
    const sentinel = await startSentinel()
    onTestFinished(() => sentinel.stop())
    const database = await openDatabase()
    for (const [name, redisUrl] of [
      ['Redis Cluster', await cluster.url(false)],
      ['Redis Sentinel', `redis://${sentinel.host}`],
    ] as const) {
      await expect(openLog(database, redisUrl)).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(name),
      })
    }
  })

  it('shows a reader the events that follow lost ones, also those of a server whose machine is a minute behind', async () => {
    const machine = vi.spyOn(systemClock, 'now')
    onTestFinished(() => machine.mockRestore())
    let ms = Date.now()
    const ofDatabase: Clock = testClock(() => ++ms)
    const [right, behind] = await Promise.all(
      [1, 2].map(async () => openLog(await openDatabase(), url, ofDatabase)),
    )
    for (const one of [right, behind]) onTestFinished(() => one?.stop())
    const thread = newThread()
    const seen: string[] = []
    const leave = new AbortController()
    const reading = (async () => {
      for await (const batch of behind!.events.read(thread, 'start', leave.signal)) {
        for (const item of batch) seen.push('gap' in item ? 'gap' : item.data)
      }
    })()
    await right!.events.append(thread, [event('lost', randomUUID())], null)
    await eventually(async () => expect(seen).toEqual(['lost']))
    const redis = openRedis(url, LOGGER)
    await redis.command('FLUSHALL')
    await redis.close()
    machine.mockImplementation(() => Date.now() - 60_000)
    await behind!.events.append(thread, [event('new', randomUUID()), event('newer', randomUUID())], null)
    await eventually(async () => expect(seen).toEqual(['lost', 'new', 'newer']))
    leave.abort()
    await reading
  })

  it('gets the end of a run again that it has lost when it failed over or crashed', async () => {
    const { events, store, stop } = await openLog(await openDatabase())
    onTestFinished(stop)
    const thread = newThread()
    const whole = ['v2/ending', 'run_done']
    await store.finish(await started(store, thread.thread_id), endOf('success'))
    expect(await readToEnd(events, thread)).toEqual(whole)
    const redis = openRedis(url, LOGGER)
    onTestFinished(() => redis.close())
    await redis.command('FLUSHALL')
    expect(await events.total(thread)).toBe(0)
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal')
    await eventually(async () => expect(await events.total(thread)).toBe(whole.length))
    expect(await readToEnd(events, thread)).toEqual(whole)
  })

  it('has the end of a run as soon as possible, and once, after any interruption', async () => {
    const database = await openDatabase()
    const before = await openLog(database)
    const thread = newThread()
    const claim = await started(before.store, thread.thread_id)
    await before.events.append(thread, [event('1', claim.run_id)], { ...claim, attempt: 1 })
    await server.kill()
    await before.store.finish(claim, endOf('success'))
    expect(await database.query('SELECT thread_id FROM event_outbox')).toEqual([
      { thread_id: thread.thread_id },
    ])
    // The process has died, and two others start.
    await server.start()
    const after = [await openLog(database), await openLog(database)]
    for (const { stop } of [before, ...after]) onTestFinished(stop)
    const whole = ['values', 'v2/ending', 'run_done']
    for (const { events } of after) expect(await readToEnd(events, thread)).toEqual(whole)
    await eventually(async () => expect(await database.query('SELECT 1 FROM event_outbox')).toEqual([]))
    for (const { events } of after) expect(await readToEnd(events, thread)).toEqual(whole)
  })
})
