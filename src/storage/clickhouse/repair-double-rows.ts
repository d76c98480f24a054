import { startWhenReady } from '../../base/background/background.ts'
import { toAppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import { retry } from '../../base/retry.ts'
import type { ClickHouse } from './connect.ts'
import { fillAttachmentUses } from './deleting/attachment-uses.ts'
import { fragmentsSql } from './fragments/fragments-sql.ts'
import { isRepaired, noteRepaired } from './repairs.ts'
import { fillThreadRuns } from './threads/fill-thread-runs.ts'

const NAME = 'double_rows'
const HOUR = 3_600_000
/** Milliseconds until a repair is tried again. */
const AGAIN_MS = 30_000
/** Maximum number of rows that one step reads, unless a single hour has more. */
const STEP_ROWS = 500_000
/** Maximum number of TraceRuns that one statement repairs. */
const PAGE = 1_000

export interface RepairOptions {
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Default STEP_ROWS. */
  readonly stepRows?: number
}

/**
 * Repairs TraceRuns that have rows in several projects, so that each TraceRun has one row. Earlier releases stored two
 * rows if a span was sent under two projects at the same moment. Runs once for each store, in small steps; an
 * interrupted repair starts again, and repeating it changes nothing. Returns how many TraceRuns were repaired.
 */
export async function repairDoubleRows(clickhouse: ClickHouse, options: RepairOptions): Promise<number> {
  const { signal, logger, stepRows = STEP_ROWS } = options
  if (await isRepaired(clickhouse, NAME)) return 0
  let repaired = 0
  for (const slice of await slices(clickhouse, stepRows)) {
    repaired += await repairSlice(clickhouse, slice, signal)
    if (signal.aborted) return repaired
  }
  await noteRepaired(clickhouse, NAME)
  if (repaired > 0)
    logger.info({ runs: repaired }, 'runs that were listed in several projects are now in one each')
  return repaired
}

/**
 * Starts the repairs in the background once the store is `ready`; returns the function that stops them. If the store is
 * away, they go on when it is back.
 */
export function startRepair(
  clickhouse: ClickHouse,
  ready: Promise<void>,
  logger: Logger,
  againMs = AGAIN_MS,
): () => Promise<void> {
  return startWhenReady(ready, async (signal) => {
    const work = async (): Promise<void> => {
      await fillThreadRuns(clickhouse, signal, logger)
      await fillAttachmentUses(clickhouse, signal)
      if (!signal.aborted) await repairDoubleRows(clickhouse, { signal, logger })
    }
    try {
      await retry(work, { pauses: [againMs], signal, mayRetry: (error) => toAppError(error).retryable })
    } catch (thrown) {
      if (!signal.aborted)
        logger.warn({ err: thrown }, 'a repair of stored rows failed; the next start tries again')
    }
  })
}

/** A range of `sort_time`, in epoch milliseconds. */
type Slice = { from: number; to: number }

async function slices(clickhouse: ClickHouse, stepRows: number): Promise<Slice[]> {
  const hours = await clickhouse.rows<{ hour: number; rows: number }>(
    `SELECT toInt32(intDiv(toUnixTimestamp64Milli(sort_time), ${HOUR})) AS hour, toUInt32(count()) AS rows
     FROM runs GROUP BY hour ORDER BY hour`,
  )
  const found: Slice[] = []
  let rowsOfLast = Number.POSITIVE_INFINITY
  for (const { hour, rows } of hours) {
    const to = (hour + 1) * HOUR
    if (rowsOfLast + rows > stepRows) {
      found.push({ from: hour * HOUR, to })
      rowsOfLast = rows
    } else {
      found.at(-1)!.to = to
      rowsOfLast += rows
    }
  }
  return found
}

const IN_SLICE = `sort_time >= fromUnixTimestamp64Milli({from:Int64}) AND sort_time < fromUnixTimestamp64Milli({to:Int64})`

async function repairSlice(clickhouse: ClickHouse, slice: Slice, signal: AbortSignal): Promise<number> {
  let after = { workspace_id: NIL_UUID, run_id: NIL_UUID }
  let repaired = 0
  while (!signal.aborted) {
    const page = await clickhouse.rows<{ workspace_id: string; run_id: string }>(
      `SELECT workspace_id, run_id FROM runs FINAL
       WHERE ${IN_SLICE} AND (workspace_id, run_id) > ({after_workspace:UUID}, {after_run:UUID})
       GROUP BY workspace_id, run_id HAVING count() > 1
       ORDER BY workspace_id, run_id LIMIT ${PAGE}`,
      { params: { ...slice, after_workspace: after.workspace_id, after_run: after.run_id } },
    )
    const last = page.at(-1)
    if (last === undefined) break
    for (const workspace_id of new Set(page.map((row) => row.workspace_id))) {
      const run_ids = page.filter((row) => row.workspace_id === workspace_id).map(({ run_id }) => run_id)
      await keepOne(clickhouse, { ...slice, workspace_id, run_ids })
    }
    repaired += page.length
    after = last
  }
  return repaired
}

/**
 * Writes all rows of these TraceRuns again, with a higher version. The row in the project that the fragments name
 * stays, and the tables with places of rows get its place. The other rows are marked as deleted.
 */
async function keepOne(
  clickhouse: ClickHouse,
  params: Slice & { workspace_id: string; run_ids: string[] },
): Promise<void> {
  const columns = await clickhouse.rows<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'runs' ORDER BY position`,
  )
  const names = columns.map(({ name }) => name)
  const values = names.map((name) => {
    if (name === 'version') return 'highest + 1'
    return name === 'is_deleted' ? 'toUInt8(place > 1)' : name
  })
  const ofRuns = 'run_id IN {run_ids:Array(UUID)}'
  const scope = `workspace_id = {workspace_id:UUID} AND ${ofRuns}`
  const named = fragmentsSql({
    columns: 'run_id, project_id, rank, received_at, hash',
    ofRuns,
    where: [`project_id != toUUID('${NIL_UUID}')`],
  })
  await clickhouse.command(
    `INSERT INTO runs (${names.join(', ')}) SELECT ${values.join(', ')} FROM (
       SELECT *, max(version) OVER (PARTITION BY run_id) AS highest, row_number() OVER (
         PARTITION BY run_id
         ORDER BY (run_id, project_id) IN (
           SELECT run_id, argMax(project_id, (rank, received_at, hash)) FROM (${named}) GROUP BY run_id) DESC,
         version DESC, toString(project_id), sort_time) AS place
       FROM runs FINAL WHERE ${scope} AND ${IN_SLICE})`,
    { params },
  )
}
