import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ClickHouse, connectClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { readAddress } from '../../src/storage/clickhouse/embedded/address.ts'
import { startTestClickHouse, until } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { type SentTrace, sendParts, startLoad } from '../../test/support/servers/load.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../test/support/servers/weir-process.ts'
import { fillFragments } from './fill-fragments.ts'
import { fillRuns, RUNS_PER_TRACE } from './fill-runs.ts'

/** A data folder that an earlier release made: what it has, for comparison. */
export interface EarlierStore {
  workspace_id: string
  /** The project that SQL filled, and the names of those to which traces were sent over HTTP. */
  filled_id: string
  sent: string
  /** Epoch milliseconds of the starts of traces in the filled project. */
  from: number
  to: number
  traces: SentTrace[]
}

const DAY = 86_400_000
const DAYS = 30
const SENT_TRACES = 300
const ATTACHMENTS = 50
/** Words in the inputs, and in the outputs: fragments of 600 bytes. */
const WORDS = 40
/** Traces of the filled project for each thread. */
const TRACES_PER_THREAD = 40
const PATIENCE_MS = 2 * 3_600_000

/**
 * A folder with a store of `runs` TraceRuns that the program in `checkout` made, a release without migration 18: some
 * traces come over HTTP, the others by SQL. Made only once.
 */
export async function earlierStore(folder: string, checkout: string, runs: number): Promise<EarlierStore> {
  const file = join(folder, 'facts.json')
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as EarlierStore
  await mkdir(folder, { recursive: true })
  const main = resolve(checkout, 'src/main.ts')
  const weir = await startWeir(folder, {}, [], main)
  const sent = 'sent'
  const [workspace] = await weir.json<{ id: string }[]>('/api/v1/workspaces')
  const filled = await weir.json<{ id: string }>('/api/v1/sessions', jsonBody('POST', { name: 'filled' }))
  const load = startLoad({ url: weir.url, session_name: sent, concurrency: 4 })
  await load.reached(SENT_TRACES)
  await load.stop()
  for (let i = 0; i < ATTACHMENTS; i++) await sendAttachment(weir, `note ${i}`)
  await weir.drained()
  await weir.stop()
  const to = Math.floor(Date.now() / DAY) * DAY
  const ids = { workspace_id: workspace!.id, project_id: filled.id }
  await fill(folder, { ...ids, runs, from: to - DAYS * DAY, to })
  await settle(await startWeir(folder, {}, [], main))
  const store = {
    workspace_id: ids.workspace_id,
    filled_id: ids.project_id,
    sent,
    from: to - DAYS * DAY,
    to,
    traces: [...load.traces],
  }
  await writeFile(file, JSON.stringify(store))
  return store
}

async function sendAttachment(weir: WeirProcess, text: string): Promise<void> {
  const id = randomUUID()
  const start_time = new Date().toISOString()
  const run = { id, trace_id: id, name: 'note', run_type: 'chain', session_name: 'notes', start_time }
  await sendParts(weir.url, [
    {
      name: `post.${id}`,
      data: JSON.stringify({
        ...run,
        dotted_order: `${start_time.replace(/[-:.]/g, '').slice(0, -1)}000Z${id}`,
      }),
    },
    { name: `attachment.${id}.note`, data: text, type: 'text/plain' },
  ])
}

async function fill(dataDir: string, project: FilledProject): Promise<void> {
  const engine = await startTestClickHouse(dataDir)
  const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
  await fillEarlierTables(db, project)
  await db.close()
  await engine.stop()
}

export interface FilledProject {
  workspace_id: string
  project_id: string
  runs: number
  from: number
  to: number
}

/** Fills the tables of migration 17: rows, fragments, and what counts the traces. */
export async function fillEarlierTables(db: ClickHouse, project: FilledProject): Promise<void> {
  const { runs, to } = project
  const traces = Math.floor(runs / RUNS_PER_TRACE)
  const threads = Math.ceil(traces / TRACES_PER_THREAD)
  await fillRuns(db, { ...project, traces, threads, receivedAtStart: true })
  await fillFragments(db, { ...project, table: 'run_fragments', keep_days: 0, to: to + 60_000, words: WORDS })
  const ofProject = `workspace_id = '${project.workspace_id}' AND project_id = '${project.project_id}'`
  const start = 'toUnixTimestamp64Milli(start_time)'
  const hour = `toInt32(intDiv(${start}, 3600000))`
  const roots = `FROM runs WHERE ${ofProject} AND run_id = trace_id`
  await db.command(
    `INSERT INTO usage_claims (workspace_id, trace_id, basis, hour, rank, start, project_id, user_id, api_key_id)
     SELECT workspace_id, trace_id, 0, ${hour}, 1, ${start}, project_id, user_id, api_key_id ${roots}`,
  )
  await db.command(
    `INSERT INTO usage_traces (workspace_id, hour, trace_id, version, is_deleted, start, project_id, user_id, api_key_id)
     SELECT workspace_id, ${hour}, trace_id, 1, 0, ${start}, project_id, user_id, api_key_id ${roots}`,
  )
  for (const [unit, hours] of Object.entries({ hour: 1, day: 24 }))
    await db.command(
      `INSERT INTO usage_marks (workspace_id, unit, bucket)
       SELECT DISTINCT workspace_id, '${unit}', toInt32(intDiv(hour, ${hours})) FROM usage_traces WHERE ${ofProject}`,
    )
}

/** Waits until the server has done its own work in the background, and stops it. */
async function settle(weir: WeirProcess): Promise<void> {
  const rebuild = '/api/v1/orgs/current/billing/usage-rebuild'
  await weir.json(rebuild, { method: 'POST' })
  await until('merges and indexes', () => withEngine(weir.dataDir, isAtRest), PATIENCE_MS)
  await until(
    'usage',
    async () => (await weir.json<{ status: string }>(rebuild)).status === 'done',
    PATIENCE_MS,
  )
  await weir.stop()
}

/** What `work` says of the engine of a running server; false if there is no engine now. */
export async function withEngine(
  dataDir: string,
  work: (db: ClickHouse) => Promise<boolean>,
): Promise<boolean> {
  const address = await readAddress(dataDir)
  if (address === undefined) return false
  const db = connectClickHouse({ ...address, database: 'weir', maxExecutionSeconds: 600 })
  try {
    return await work(db)
  } catch {
    return false
  } finally {
    await db.close()
  }
}

/** Rows without indexes for which the product builds none yet. */
const FEW_ROWS = 20_000

/** Whether merges and mutations have ended, and rows have their indexes. */
export async function isAtRest(db: ClickHouse): Promise<boolean> {
  const [state] = await db.rows<{ busy: number; unindexed: number }>(
    `SELECT (SELECT count() FROM system.merges WHERE database = currentDatabase())
         + (SELECT count() FROM system.mutations WHERE NOT is_done AND database = currentDatabase()) AS busy,
       (SELECT toUInt32(sum(rows)) FROM system.parts WHERE active AND database = currentDatabase()
        AND table IN ('runs', 'run_fragments') AND secondary_indices_uncompressed_bytes = 0) AS unindexed`,
  )
  return state!.busy === 0 && state!.unindexed < FEW_ROWS
}

const REPAIRS = ['thread_runs', 'attachment_uses', 'double_rows', 'hour_changes']

/** Whether the repairs of an upgrade are done, and every hour has its figures. */
export async function isUpgraded(db: ClickHouse): Promise<boolean> {
  const [state] = await db.rows<{ repairs: number; due: number }>(
    `SELECT (SELECT uniq(name) FROM repairs WHERE name IN {names:Array(String)}) AS repairs, (
       SELECT count() FROM (
         SELECT workspace_id, project_id, hour, sum(changes) AS changed FROM hour_changes
         GROUP BY workspace_id, project_id, hour) AS marked
       LEFT JOIN (
         SELECT workspace_id, project_id, hour, maxIf(changes, has_unpriced != 0) AS changes FROM figure_hours
         GROUP BY workspace_id, project_id, hour) AS rolled USING (workspace_id, project_id, hour)
       WHERE changed != rolled.changes) AS due`,
    { params: { names: REPAIRS } },
  )
  return state!.repairs === REPAIRS.length && state!.due === 0 && (await isAtRest(db))
}
