import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createLanePrices } from '../../../src/ingest/derive/lane-prices.ts'
import type { LaneTasks } from '../../../src/ingest/lane-tasks.ts'
import type { PriceStore } from '../../../src/ingest/prices/price-store.ts'
import type { ProjectStore } from '../../../src/ingest/project-store.ts'
import { type Repricer, type RepricerDeps, startRepricer } from '../../../src/ingest/prices/repricer.ts'
import type { RepriceJob, RepriceJobStore } from '../../../src/ingest/prices/reprice-jobs.ts'
import type { WorkerPool } from '../../../src/worker-threads/worker-pool.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { createPriceStore } from '../../../src/storage/sql/prices/price-store.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { createRepriceJobStore } from '../../../src/storage/sql/prices/reprice-job-store.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { parseDecimal } from '../../../src/trace/price/decimal.ts'
import { repriceRows } from '../../../src/trace/price/reprice/reprice-rows.ts'
import { SENT } from '../../../src/trace/price/complete-costs.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { eventually } from '../../support/eventually.ts'
import {
  idOf,
  PROJECT,
  SECOND,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'
import { inLong } from '../../support/length.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const OTHER_PROJECT = PROJECT.replace(/.$/, (last) => (last === 'f' ? '0' : 'f'))
const MODEL = 'my-model'
const MINUTE = 60 * SECOND
const usd = (amount: string): bigint => parseDecimal(amount)!

let traces: TestTraceStore
useTraceStore((store) => void (traces = store))

let database: Database
let prices: PriceStore
let projects: ProjectStore
let jobs: RepriceJobStore
let repricers: Repricer[]
let now = START / 1000
const clock = testClock(() => now++)
beforeEach(async () => {
  database = openSqlite(':memory:')
  await migrate(database)
  prices = createPriceStore(database, clock)
  projects = createProjectStore(database, clock)
  jobs = createRepriceJobStore(database)
  repricers = []
  for (const session_id of [PROJECT, OTHER_PROJECT])
    await projects.resolve(WORKSPACE, { session_id, session_name: null })
})
afterEach(async () => {
  await Promise.all(repricers.map((repricer) => repricer.stop()))
  await database.close()
})

/** The work that a worker thread of the read lane does; here it is done in this thread. */
function inlineLane(): WorkerPool {
  const lane = createLanePrices({ find: () => undefined })
  const run = async ({ input }: { input: unknown }): Promise<unknown> => {
    const { rows, prices: snapshot } = input as LaneTasks['reprice']['input']
    lane.use(snapshot)
    return repriceRows(rows, lane.of)
  }
  return {
    run: run as WorkerPool['run'],
    warm: async () => undefined,
    close: async () => undefined,
    queued: 0,
    running: 0,
  }
}

function start(overrides: Partial<RepricerDeps> = {}): Repricer {
  const repricer = startRepricer({
    store: traces.store,
    lane: inlineLane(),
    prices,
    projects,
    jobs,
    isStored: () => true,
    ready: Promise.resolve(),
    clock,
    logger: createLogger({ level: 'silent' }),
    ...overrides,
  })
  repricers.push(repricer)
  return repricer
}

const price = (prompt_cost: string, fields = {}) =>
  prices.create(WORKSPACE, {
    name: MODEL,
    match_pattern: `^${MODEL}$`,
    match_path: [],
    provider: null,
    start_time: null,
    prompt_token_threshold: null,
    conditions: {},
    prompt_cost,
    completion_cost: '0.000002',
    prompt_cost_details: {},
    completion_cost_details: {},
    ...fields,
  })
const llm = (n: number, fields: Partial<TraceRunRow> = {}) =>
  traceRunRow(n, {
    run_type: 'llm',
    model: MODEL,
    input_tokens: 10,
    output_tokens: 5,
    version: 2 ** 21,
    ...fields,
  })
const scope = (fields: Partial<Parameters<Repricer['submit']>[1]> = {}) => ({
  start_time: START,
  end_time: START + 100_000 * MINUTE,
  project_ids: null,
  ...fields,
})

async function finished(repricer: Repricer, job: RepriceJob, status = 'done'): Promise<RepriceJob> {
  return await eventually(async () => {
    const found = await repricer.get(WORKSPACE, job.id)
    expect(found?.status).toBe(status)
    return found!
  })
}

async function row(n: number): Promise<TraceRunRow> {
  const [found] = await traces.list(WORKSPACE, { run_ids: [idOf(n)], order: 'asc', limit: 2 })
  return found!
}

describe('repricer', () => {
  it('computes costs again, keeps sent ones and other types, and changes nothing the second time', async () => {
    await traces.insert([
      llm(100),
      llm(101, { run_type: 'embedding', output_tokens: null, project_id: OTHER_PROJECT }),
      llm(102, { input_cost: 7n, total_cost: 7n, sent_costs: SENT.input_cost }),
      llm(103, { model: 'nobody-knows-it', input_cost: 9n, total_cost: 9n, price_model_id: 'gone' }),
      llm(104, { run_type: 'chain', total_cost: 3n }),
      llm(105, { input_tokens: null, output_tokens: null }),
      llm(106, { input_token_details: { audio: 4 }, input_cost: usd('0.00001'), sent_costs: 0 }),
      llm(107, { input_cost: 7n, input_cost_details: { audio: 3n, base: 4n }, sent_costs: SENT.input_cost }),
    ])
    const { id } = await price('0.000001')
    const repricer = start()
    const first = await finished(repricer, await repricer.submit(WORKSPACE, scope()))
    expect(first).toMatchObject({ examined: 7, changed: 6, progress: 1, error: null })
    expect(await row(100)).toMatchObject({
      input_cost: usd('0.00001'),
      output_cost: usd('0.00001'),
      total_cost: usd('0.00002'),
      price_model_id: id,
    })
    expect(await row(101)).toMatchObject({
      input_cost: usd('0.00001'),
      output_cost: null,
      total_cost: usd('0.00001'),
    })
    expect(await row(102)).toMatchObject({
      input_cost: 7n,
      total_cost: usd('0.00001') + 7n,
      price_model_id: id,
    })
    expect(await row(103)).toMatchObject({ input_cost: null, total_cost: null, price_model_id: '' })
    expect(await row(104)).toMatchObject({ total_cost: 3n, price_model_id: '' })
    expect(await row(106)).toMatchObject({
      input_cost_details: { base: usd('0.00001') },
      output_cost_details: { base: usd('0.00001') },
    })
    expect(await row(107)).toMatchObject({ input_cost_details: { audio: 3n, base: 4n } })
    expect(await row(102)).toMatchObject({ input_cost_details: {} })
    const second = await finished(repricer, await repricer.submit(WORKSPACE, scope()))
    expect(second).toMatchObject({ examined: 7, changed: 0 })
  })

  inLong(() => {
    it('changes only runs of the time range and of the projects', async () => {
      await traces.insert([llm(201), llm(202), llm(203), llm(204, { project_id: OTHER_PROJECT })])
      await price('0.000001')
      const repricer = start()
      const part = scope({
        start_time: START + 202 * MINUTE,
        end_time: START + 203 * MINUTE,
        project_ids: [PROJECT],
      })
      await finished(repricer, await repricer.submit(WORKSPACE, part))
      const costs = await Promise.all([201, 202, 203, 204].map(async (n) => (await row(n)).input_cost))
      expect(costs).toEqual([null, usd('0.00001'), null, null])
    })
  })

  it('does not overwrite rows that are derived from more fragments, also earlier ones', async () => {
    await traces.insert([llm(300)])
    await price('0.000001')
    const repricer = start()
    await finished(repricer, await repricer.submit(WORKSPACE, scope()))
    await traces.insert([llm(300)])
    expect((await row(300)).input_cost).toBe(usd('0.00001'))
    const parentKnown = 2 ** 21 + 2 ** 20
    await traces.insert([llm(300, { version: parentKnown, name: 'placed' })])
    expect(await row(300)).toMatchObject({ name: 'placed', input_cost: null })
    await finished(repricer, await repricer.submit(WORKSPACE, scope()))
    await traces.insert([llm(300, { version: 2 ** 22, name: 'patched' })])
    expect(await row(300)).toMatchObject({ name: 'patched', input_cost: null })
  })

  inLong(() => {
    it('continues where an earlier process stopped, and waits for an unreachable store', async () => {
      await traces.insert(Array.from({ length: 9000 }, (_, i) => llm(10_000 + i)))
      await price('0.000001')
      let lists = 0
      const flaky = {
        ...traces.store,
        list: async (...query: Parameters<typeof traces.store.list>) => {
          if (++lists === 2) throw new AppError('store_unavailable')
          return await traces.store.list(...query)
        },
      }
      const before = start({ store: { ...flaky, insert: async () => new Promise<void>(() => undefined) } })
      const job = await before.submit(
        WORKSPACE,
        scope({ start_time: START + 10_000 * MINUTE, project_ids: [PROJECT] }),
      )
      await eventually(async () => expect((await before.get(WORKSPACE, job.id))?.status).toBe('running'))
      repricers = []
      const after = start({ store: flaky })
      expect(await finished(after, job)).toMatchObject({ examined: 9000, changed: 9000 })
      expect((await row(18_999)).input_cost).toBe(usd('0.00001'))
    })
  })

  it('waits until earlier data is stored, and accepts one job for the same scope', async () => {
    let isStored = false
    const repricer = start({ isStored: () => isStored })
    const first = await repricer.submit(WORKSPACE, scope({ end_time: START + 1 }))
    await eventually(async () => expect((await repricer.get(WORKSPACE, first.id))?.status).toBe('running'))
    const second = await repricer.submit(WORKSPACE, scope({ end_time: START + 1 }))
    expect(second.id).not.toBe(first.id)
    expect((await repricer.submit(WORKSPACE, scope({ end_time: START + 1 }))).id).toBe(second.id)
    isStored = true
    await finished(repricer, second)
    expect(await repricer.get('22222222-2222-4222-8222-222222222222', first.id)).toBeUndefined()
  })

  it('takes up its jobs when the SQL store did not answer at first', async () => {
    const job = await start({ ready: new Promise(() => undefined) }).submit(WORKSPACE, scope())
    let asked = 0
    const repricer = start({
      jobs: {
        ...jobs,
        unfinished: () =>
          asked++ === 0 ? Promise.reject(new AppError('store_unavailable')) : jobs.unfinished(),
      },
    })
    await finished(repricer, job)
  })

  it('a job that one server has ended is not opened again by another', async () => {
    const job = await start({ ready: new Promise(() => undefined) }).submit(WORKSPACE, scope())
    await jobs.save({ ...job, status: 'done', progress: 1 })
    await jobs.save({ ...job, status: 'running', progress: 0.5 })
    expect(await jobs.get(WORKSPACE, job.id)).toMatchObject({ status: 'done', progress: 1 })
  })

  inLong(() => {
    it('ends a job that fails, and continues with the next', async () => {
      const broken = {
        ...traces.store,
        list: () => Promise.reject(new AppError('internal', { message: 'no' })),
      }
      const repricer = start({ store: broken })
      const job = await repricer.submit(WORKSPACE, scope())
      const next = await repricer.submit(WORKSPACE, scope({ end_time: START + 2 }))
      expect(await finished(repricer, job, 'failed')).toMatchObject({ error: 'no' })
      await finished(repricer, next, 'failed')
    })
  })
})
