import { startWhenReady } from '../../../base/background/background.ts'
import { toAppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import { pause } from '../../../base/pause.ts'
import { isOfTable, systemRows } from '../cluster/layout.ts'
import type { ClickHouse } from '../connect.ts'
import { FILTER_INDEXES } from './filter-indexes.ts'

const LOOK_MS = 30_000
/** The index is built when no rows have been written for this time. */
const QUIET_SECONDS = 15
/** The index is built after this time even if rows are still being written. */
const PATIENCE_SECONDS = 3_600
/**
 * Minimum number of rows for a build: in all, and for each part of the table. Scanning fewer rows is as fast as reading
 * the index, and a build makes a new version of each part.
 */
const MIN_ROWS = 5_000
const MIN_ROWS_OF_PART = 50

/** Conditions for building the index: a number of rows, and a time without new rows. */
export interface IndexWhen {
  min_rows?: number
  quiet_seconds?: number
}

/** The indexes of each table that inserts and merges do not build. All of a table are built together. */
const INDEXES = {
  fragments: ['words'],
  run_fragments: ['words'],
  runs: ['words', ...FILTER_INDEXES],
} as const
const TABLES = ['fragments', 'run_fragments', 'runs'] as const

/** Value of the setting `exclude_materialize_skip_indexes_on_insert`. */
export const BUILT_LATER = INDEXES.runs.join(', ')

/** Parts of a table without the index. */
interface Unindexed {
  rows: number
  /** All parts of the table. */
  parts: number
  /** Seconds since the newest part was written; `oldest`: seconds since the oldest part was written. */
  newest: number
  oldest: number
  running: number
  failed: string
}

/**
 * Starts builds of the indexes, `words` and those for filters, for rows that have none. A build starts if there are many such rows and ingest
 * was idle for a while, or if they have waited for an hour. Builds run in the background of ClickHouse, and searches
 * scan these rows until a build is done. Returns whether a build was started. Rejects if a build has failed; the build
 * is not repeated.
 */
export async function indexWords(clickhouse: ClickHouse, when: IndexWhen = {}): Promise<boolean> {
  const began: boolean[] = []
  for (const table of TABLES) began.push(await indexTable(clickhouse, table, when))
  return began.includes(true)
}

async function indexTable(
  clickhouse: ClickHouse,
  table: (typeof TABLES)[number],
  { min_rows, quiet_seconds = QUIET_SECONDS }: IndexWhen,
): Promise<boolean> {
  const parts = systemRows('parts', table, clickhouse)
  const mutations = systemRows('mutations', table, clickhouse)
  const [state] = await clickhouse.rows<Unindexed>(
    `SELECT toUInt64(sum(rows)) AS rows, (SELECT toUInt32(count()) FROM ${parts} AND active) AS parts,
       toInt64(ifNull(min(age), 0)) AS newest, toInt64(ifNull(max(age), 0)) AS oldest,
       (SELECT count() FROM ${mutations} AND NOT is_done) AS running,
       (SELECT max(latest_fail_reason) FROM ${mutations} AND NOT is_done) AS failed
     FROM (SELECT rows, dateDiff('second', modification_time, now()) AS age
           FROM ${parts} AND active AND secondary_indices_uncompressed_bytes = 0)`,
  )
  if (state === undefined) return false
  if (state.failed !== '') {
    await clickhouse.command(
      `KILL MUTATION WHERE ${isOfTable(table, clickhouse)} AND command LIKE '%MATERIALIZE INDEX words%'`,
    )
    throw new Error(`the indexes of ${table} could not be built: ${state.failed}`)
  }
  const isDue = state.newest >= quiet_seconds || state.oldest >= PATIENCE_SECONDS
  const enough = min_rows ?? Math.max(MIN_ROWS, state.parts * MIN_ROWS_OF_PART)
  if (state.running > 0 || state.rows < enough || !isDue) return false
  const builds = INDEXES[table].map((index) => `MATERIALIZE INDEX ${index}`)
  await clickhouse.command(`ALTER TABLE ${table} ${builds.join(', ')}`, {
    settings: { mutations_sync: 0, alter_sync: 0 },
  })
  return true
}

/** Builds the index in the background once the store is `ready`; returns the function that stops it. */
export function startIndexingWords(
  clickhouse: ClickHouse,
  ready: Promise<void>,
  logger: Logger,
  lookMs = LOOK_MS,
): () => Promise<void> {
  return startWhenReady(ready, async (signal) => {
    for (await pause(lookMs, signal); !signal.aborted; await pause(lookMs, signal)) {
      try {
        await indexWords(clickhouse)
      } catch (thrown) {
        // The store is away for a while.
        if (toAppError(thrown).retryable) continue
        logger.warn({ err: thrown }, 'rows were not added to the indexes; searches and filters scan them')
        await pause(PATIENCE_SECONDS * 1_000, signal)
      }
    }
  })
}
