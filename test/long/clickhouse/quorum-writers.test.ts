import { randomUUID } from 'node:crypto'
import { env } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import type { LogFrame } from '../../../src/ingest/log/ingest-log.ts'
import type { PriceStore } from '../../../src/ingest/prices/price-store.ts'
import { createLaneRoutes } from '../../../src/ingest/derive/lane-routes.ts'
import { createStoreBatch, RECORD, type StoreBatch } from '../../../src/ingest/store/store-batch.ts'
import { STORED_COLUMNS, USAGE_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { createInsertTurns } from '../../../src/storage/clickhouse/cluster/insert-turns.ts'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import { createUsageStore } from '../../../src/storage/clickhouse/usage/store.ts'
import { openTableLocks } from '../../../src/storage/sql/driver/postgres/table-locks.ts'
import { formatDottedOrder } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { emptyFragment, RANK, writeFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { createUsageRecorder } from '../../../src/usage/counting/recorder.ts'
import { type QuorumProxy, startQuorumProxy } from '../../support/faults/proxies/quorum.ts'
import { shared } from '../../support/servers/shared.ts'
import { migratedDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { inlineLanes } from '../../support/usage/world.ts'

// Four times, batches wait for a slow quorum.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = withoutPostgres()
const WORKSPACE = randomUUID()
/**
 * Milliseconds of a quorum: so long that servers wait for it, and not for the engine, also on a busy machine. By hand:
 * `QUORUM_MS=50 npm run test:long -- quorum-writers`.
 */
const HOLD_MS = Number(env['QUORUM_MS'] ?? 250)
const BATCHES = 16
const TRACES_A_BATCH = 20
const logger = createLogger({ level: 'silent' })

interface Stored {
  seconds: number
  done: number
  refused: number
  /** Batches that failed and were tried again. */
  repeated: number
}

/** The part of a server that stores batches, with its own connections. */
async function openWriter(
  proxy: QuorumProxy,
  database: string,
  sqlUrl: string | undefined,
): Promise<StoreBatch> {
  const { username, password } = await shared('/clickhouse')
  const locks = sqlUrl === undefined ? undefined : openTableLocks({ url: sqlUrl, logger })
  const turns = locks && createInsertTurns(locks.lock)
  const db = connectClickHouse({ url: proxy.url, username, password, database, turns })
  onTestFinished(async () => {
    await db.close()
    await locks?.close()
  })
  const usage = createUsageRecorder({
    store: createUsageStore(db, USAGE_COLUMNS),
    exclusive: false,
    periods: [{ from: 0, to: Number.POSITIVE_INFINITY }],
  })
  return createStoreBatch({
    store: createTraceStore(db, STORED_COLUMNS),
    usage,
    deriveLanes: { pools: inlineLanes(false, 2), routes: createLaneRoutes({ lanes: 2, laneBytes: 1 }) },
    prices: { snapshot: async () => ({}) as never } as unknown as PriceStore,
    exclusive: false,
    logger,
    metrics: createMetrics(),
  })
}

/** Stores BATCHES batches with this number of writers; checks that each trace is stored and counted once. */
async function storeWith(writers: number, sqlUrl: string | undefined): Promise<Stored> {
  const own = await migratedDatabase()
  const proxy = await startQuorumProxy((await shared('/clickhouse')).url, HOLD_MS)
  onTestFinished(async () => {
    await proxy.close()
    await own.drop()
  })
  for (const table of ['fragments', 'usage_claims']) await own.db.command(`SYSTEM STOP MERGES ${table}`)
  const batches = Array.from({ length: BATCHES }, (_, n) => batchOf(n))
  let repeated = 0
  const work = async (storeBatch: StoreBatch): Promise<void> => {
    const until = async (step: (signal: AbortSignal) => Promise<unknown>): Promise<void> => {
      for (let failures = 0; !(await isDone(step)); failures++) {
        repeated += 1
        await delay([100, 200, 500, 1000, 2000][Math.min(failures, 4)])
      }
    }
    let earlier = Promise.resolve()
    for (let frames = batches.pop(); frames !== undefined; frames = batches.pop()) {
      const batch = storeBatch(frames, earlier)
      await until((signal) => batch.derive(signal))
      await earlier
      earlier = until((signal) => batch.finish(signal))
    }
    await earlier
  }
  const all = await Promise.all(
    Array.from({ length: writers }, () => openWriter(proxy, own.db.database, sqlUrl)),
  )
  const from = performance.now()
  await Promise.all(all.map(work))
  const seconds = (performance.now() - from) / 1000
  const total = BATCHES * TRACES_A_BATCH
  const [counts] = await own.db.rows(
    `SELECT (SELECT count() FROM fragments) AS fragments, (SELECT uniqExact(run_id) FROM fragments) AS runs,
       (SELECT count() FROM runs FINAL) AS rows, (SELECT count() FROM usage_claims) AS claims,
       (SELECT countIf(is_deleted = 0) FROM usage_traces FINAL) AS counted`,
  )
  expect(counts).toEqual({ fragments: total, runs: total, rows: total, claims: total, counted: total })
  return { seconds: Number(seconds.toFixed(1)), repeated, ...proxy.counts }
}

async function isDone(step: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
  return await step(new AbortController().signal).then(
    () => true,
    () => false,
  )
}

/** A batch of one record with fragments of finished traces. */
function batchOf(number: number): LogFrame[] {
  const rows = new RowWriter()
  for (let i = 0; i < TRACES_A_BATCH; i++) {
    const id = randomUUID()
    const start = Date.UTC(2026, 10, 20) + number * 1000 + i
    const time = new Date(start).toISOString()
    const dotted_order = formatDottedOrder([{ time: start * 1000, id }])
    const head = {
      id,
      trace_id: id,
      dotted_order,
      name: 'q',
      run_type: 'chain',
      start_time: time,
      end_time: time,
    }
    writeFragment(rows, {
      ...emptyFragment(WORKSPACE, id, RANK.create, start),
      head: Buffer.from(JSON.stringify(head)),
      inputs: Buffer.from(JSON.stringify({ text: 'x'.repeat(2_000) })),
    })
  }
  const end = { segment: 0, offset: number }
  return [
    {
      kind: RECORD.fragments,
      count: TRACES_A_BATCH,
      received_at: 0,
      payload: rows.finish(),
      start: end,
      end,
    },
  ]
}

describe.skipIf(REASON !== '')(
  `a cluster that refuses an insert while another awaits its quorum${REASON}`,
  () => {
    const databases = postgresDatabases()

    it('USAGE-13: eight servers store at least as much as one in the same time, each trace once', async () => {
      const sqlUrl = await databases.take()
      const without = { one: await storeWith(1, undefined), eight: await storeWith(8, undefined) }
      const inTurn = { one: await storeWith(1, sqlUrl), eight: await storeWith(8, sqlUrl) }
      console.log(JSON.stringify({ without, inTurn }))
      expect(without.eight.refused).toBeGreaterThan(0)
      expect(inTurn.eight).toMatchObject({ refused: 0, repeated: 0 })
      expect(inTurn.eight.seconds).toBeLessThanOrEqual(inTurn.one.seconds)
    })
  },
)
