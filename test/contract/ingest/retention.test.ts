import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { createSweeps } from '../../../src/base/background/sweeps.ts'
import { type Deleter, startDeleter } from '../../../src/ingest/deletion/deleter.ts'
import type { Project } from '../../../src/ingest/project-store.ts'
import { RANK } from '../../../src/trace/rows/fragment.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { NOT_HIDDEN } from '../../../src/storage/clickhouse/fragments/hidden-fragments.ts'
import { createTraceDeletion } from '../../../src/storage/clickhouse/deleting/deletion.ts'
import { createFileBlobStore } from '../../../src/storage/files/blob-store.ts'
import { createDeletionStore } from '../../../src/storage/sql/deletion/deletion-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { createCommentStore } from '../../../src/storage/sql/comments/comment-store.ts'
import { createShareStore } from '../../../src/storage/sql/shares/share-store.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import {
  idOf,
  START,
  startTestTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'
import { settableClock, testClock } from '../../support/faults/test-clock.ts'
import { inLong } from '../../support/length.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/**
 * When rows with odd numbers were received, in epoch milliseconds. Rows with even numbers were received a day later.
 */
const RECEIVED = START / 1000
const TABLES = ['runs', 'thread_runs', 'fragments', 'feedback', 'usage_traces'] as const
/** Fragments of this release and of an earlier one. */
const FRAGMENTS = `(SELECT run_id FROM fragments FINAL WHERE ${NOT_HIDDEN} UNION ALL SELECT run_id FROM run_fragments FINAL)`
const BYTES = Buffer.from('attachment')
const SHA256 = createHash('sha256').update(BYTES).digest('hex')

const logger = createLogger({ level: 'silent' })

let traces: TestTraceStore
let dir: Awaited<ReturnType<typeof temporaryDir>>
beforeAll(async () => {
  traces = await startTestTraceStore()
  dir = await temporaryDir()
})
afterAll(async () => {
  await traces?.stop()
  await dir?.remove()
})

describeOnSql('retention', (engine) => {
  const clock = settableClock(RECEIVED + DAY)
  const projects = new Map<string, Project['id']>()

  async function open(): Promise<Database> {
    clock.time = RECEIVED + DAY
    const database = await engine.openPlatform()
    const store = createProjectStore(database, clock)
    for (const [name, days] of [
      ['days', 3],
      ['longer', 14],
      ['kept', null],
    ] as const) {
      const id = await store.resolve(WORKSPACE, { session_name: name, session_id: null })
      projects.set(name, id)
      await store.update(WORKSPACE, id, { retention_days: days })
    }
    return database
  }

  /** Two roots of the project. Each has a fragment with an attachment, feedback, a thread and a counted trace. */
  async function fill(name: string, first: number): Promise<void> {
    const { clickhouse } = traces
    const project_id = projects.get(name)!
    const rows = [first, first + 1].map((n, late) => ({ n, received_at: RECEIVED + late * DAY }))
    await traces.insert(
      rows.map(({ n, received_at }) =>
        traceRunRow(n, { project_id, trace_id: idOf(n), received_at, thread_id: `thread ${n}` }),
      ),
    )
    for (const { n, received_at } of rows) {
      const params = { workspace: WORKSPACE, run: idOf(n), project: project_id, received_at, SHA256 }
      const at = 'fromUnixTimestamp64Milli({received_at:Int64})'
      await clickhouse.command(
        `INSERT INTO ${n % 2 === 0 ? 'fragments' : 'run_fragments'} (workspace_id, run_id, project_id, received_at, attachments)
         SELECT {workspace:UUID}, {run:UUID}, {project:UUID}, ${at}, concat('[{"sha256":"', {SHA256:String}, '"}]')`,
        { params },
      )
      await clickhouse.command(
        `INSERT INTO feedback (workspace_id, run_id, feedback_id, trace_id, received_at, body)
         SELECT {workspace:UUID}, {run:UUID}, {run:UUID}, {run:UUID}, ${at}, '{}'`,
        { params },
      )
      await clickhouse.command(
        `INSERT INTO usage_traces (workspace_id, hour, trace_id, version, project_id)
         SELECT {workspace:UUID}, 0, {run:UUID}, 1, {project:UUID}`,
        { params },
      )
    }
  }

  /** For each table, the numbers of those of these rows that are still there. */
  async function left(numbers: readonly number[]): Promise<Record<string, number[]>> {
    const found: Record<string, number[]> = {}
    for (const table of TABLES) {
      const id = table === 'usage_traces' ? 'trace_id' : 'run_id'
      const rows = await traces.clickhouse.rows<{ id: string }>(
        `SELECT DISTINCT toString(${id}) AS id FROM ${table === 'fragments' ? FRAGMENTS : `${table} FINAL`}
         WHERE ${id} IN {ids:Array(UUID)} ORDER BY id`,
        { params: { ids: numbers.map(idOf) } },
      )
      found[table] = rows.map(({ id: found }) => numbers.find((n) => idOf(n) === found)!)
    }
    return found
  }

  function sweep(database: Database, time: Clock = clock): Deleter {
    return startDeleter({
      traces: createTraceDeletion(traces.clickhouse, STORED_COLUMNS.runs),
      deletions: createDeletionStore(database, time),
      shares: createShareStore(database, time),
      comments: createCommentStore(database, time),
      blobs: createFileBlobStore(dir.dir, time),
      ingester: { settled: async () => undefined, settledSoon: async () => undefined },
      ready: Promise.resolve(),
      clock: time,
      logger,
      sweeps: createSweeps({ logger, metrics: createMetrics() }),
    })
  }

  const first = engine.name === 'SQLite' ? 100 : 200

  it('removes expired TraceRuns and their attachments with the clock of the system', async () => {
    const database = await open()
    const now = systemClock.now()
    const rows = [first + 30, first + 31]
    const project_id = projects.get('days')!
    await traces.insert(
      rows.map((n, late) =>
        traceRunRow(n, { project_id, trace_id: idOf(n), received_at: now - (late === 0 ? 4 : 2) * DAY }),
      ),
    )
    const yesterday = testClock(() => now - DAY)
    await createFileBlobStore(dir.dir, yesterday).put([{ sha256: SHA256, bytes: BYTES }])
    await createDeletionStore(database, yesterday).noteBlobs([SHA256], now - DAY)
    const deleter = sweep(database, systemClock)
    const deletions = createDeletionStore(database, systemClock)
    await eventually(async () => expect(await deletions.notedBlobs(now)).toEqual([]), 20_000)
    await eventually(async () => expect((await left(rows))['runs']).toEqual(rows.slice(1)), 20_000)
    await deleter.stop()
  })

  it('COMMENT-3: removes what was received longer ago than its project keeps traces, with all that belongs to it', async () => {
    const database = await open()
    const blobs = createFileBlobStore(dir.dir, clock)
    await blobs.put([{ sha256: SHA256, bytes: BYTES }])
    const hasBytes = async (): Promise<boolean> => {
      const found = await blobs.read(SHA256)
      found?.bytes.destroy()
      return found !== undefined
    }
    for (const [i, name] of ['days', 'longer', 'kept'].entries()) await fill(name, first + i * 10)
    const [days, longer, kept] = [0, 10, 20].map((n) => [first + n, first + n + 1]) as [
      number[],
      number[],
      number[],
    ]
    const all = (numbers: number[]) => Object.fromEntries(TABLES.map((table) => [table, numbers]))
    const comments = createCommentStore(database, clock)
    const by = { workspace_id: WORKSPACE, trace_id: idOf(first), user_id: null, api_key_id: 'k', author: 'k' }
    for (const n of [days[0]!, days[1]!])
      await comments.create({ ...by, run_id: idOf(n), text: String(n), mentions: [] })
    const gone = (numbers: number[], rest: number[]) => ({ ...all(rest), usage_traces: numbers })

    clock.time = RECEIVED + 3 * DAY + HOUR
    let deleter = sweep(database)
    await eventually(async () => expect(await left(days)).toEqual(gone(days, days.slice(1))))
    await deleter.stop()
    expect(await comments.ofTrace(WORKSPACE, idOf(first))).toMatchObject([{ run_id: idOf(days[1]!) }])
    expect([await left(longer), await left(kept)]).toEqual([all(longer), all(kept)])

    clock.time = RECEIVED + 400 * DAY
    deleter = sweep(database)
    await eventually(async () => expect(await left(longer)).toEqual(gone(longer, [])))
    await eventually(async () => expect(await left(days)).toEqual(gone(days, [])))
    await deleter.stop()
    expect(await left(kept)).toEqual(all(kept))
    // Rows of a project that keeps its traces still refer to the attachment.
    expect(await hasBytes()).toBe(true)

    const store = createProjectStore(database, clock)
    await store.update(WORKSPACE, projects.get('kept')!, { retention_days: 1 })
    deleter = sweep(database)
    await eventually(async () => expect(await left(kept)).toEqual(gone(kept, [])))
    await deleter.stop()
    clock.time += HOUR
    deleter = sweep(database)
    await eventually(async () => expect(await hasBytes()).toBe(false))
    await deleter.stop()
  })

  inLong(() => {
    it('removes expired spans that a filter left out, but no kept TraceRun with the same id', async () => {
      const database = await open()
      const project_id = projects.get('days')!
      const [alone, shared, late] = [first + 40, first + 41, first + 42] as const
      for (const [n, received_at] of [
        [alone, RECEIVED],
        [shared, RECEIVED],
        [late, RECEIVED + DAY],
      ] as const) {
        const head = JSON.stringify({ trace_id: idOf(n) })
        await traces.clickhouse.command(
          `INSERT INTO ${n === alone ? 'fragments' : 'run_fragments'} (workspace_id, run_id, rank, project_id, received_at, head)
         SELECT {workspace:UUID}, {run:UUID}, {rank:UInt8}, {project:UUID},
           fromUnixTimestamp64Milli({received_at:Int64}), {head:String}`,
          {
            params: {
              workspace: WORKSPACE,
              run: idOf(n),
              rank: RANK.filtered,
              project: project_id,
              received_at,
              head,
            },
          },
        )
      }
      await traces.insert([
        traceRunRow(shared, { project_id, trace_id: idOf(shared), received_at: RECEIVED + DAY }),
      ])
      const stored = async (): Promise<number[]> => (await left([alone, shared, late]))['fragments']!
      expect(await stored()).toEqual([alone, shared, late])
      clock.time = RECEIVED + 3 * DAY + HOUR
      let deleter = sweep(database)
      await eventually(async () => expect(await stored()).toEqual([shared, late]))
      await deleter.stop()
      expect(await stored()).toEqual([shared, late])
      clock.time = RECEIVED + 4 * DAY + HOUR
      deleter = sweep(database)
      await eventually(async () => expect(await stored()).toEqual([]))
      await deleter.stop()
      const kept = await traces.clickhouse.rows(
        'SELECT 1 FROM filtered_spans WHERE run_id IN {ids:Array(UUID)}',
        {
          params: { ids: [alone, shared, late].map(idOf) },
        },
      )
      expect(kept).toEqual([])
    })
  })
})
