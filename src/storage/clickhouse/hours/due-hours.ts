import { type AppError, toAppError } from '../../../base/errors.ts'
import type { ClickHouse, StatementOptions } from '../connect.ts'
import { PROJECT } from '../threads/turns-sql.ts'

/** Maximum number of changes, and so of rows, of the hours that are computed together, unless one hour has more. */
const AT_ONCE = 200_000
/** Maximum number of different names of runs in hours that are computed together. 120,000 do not fit into 640 MiB. */
export const MAX_NAMES = 20_000

/** An hour, or a day, of a project whose figures have to be computed. */
export interface Due {
  workspace_id: string
  project_id: string
  changes: number
}

/**
 * Calls `roll` with the hours that are computed together: those of one project, at most `most`.
 * @throws AppError of the last hours that could not be computed
 */
export async function rollSlices<T extends Due>(
  clickhouse: ClickHouse,
  { due, most, signal }: { due: readonly T[]; most: number; signal: AbortSignal },
  roll: (slice: readonly T[]) => Promise<void>,
): Promise<void> {
  let failure: AppError | undefined
  for (const slice of slicesOf(due, most)) {
    if (signal.aborted) break
    try {
      await roll(slice)
    } catch (thrown) {
      failure = toAppError(thrown)
      // While the store answers, it is a fault of these hours, as too little memory: others must not wait for them.
      if (!(await clickhouse.ping())) break
    }
  }
  if (failure !== undefined) throw failure
}

function slicesOf<T extends Due>(due: readonly T[], most: number): T[][] {
  const slices: T[][] = []
  let rows = 0
  for (const hour of due) {
    const last = slices.at(-1)
    const [first] = last ?? []
    rows += hour.changes
    const isSame = first?.workspace_id === hour.workspace_id && first.project_id === hour.project_id
    if (last && isSame && rows <= AT_ONCE && last.length < most) last.push(hour)
    else {
      slices.push([hour])
      rows = hour.changes
    }
  }
  return slices
}

/** Deletes rows of threads, or of kinds of runs, that have no trace in {hours} any more, whose numbers are {changes}. */
export async function removeVanished(
  clickhouse: ClickHouse,
  table: 'thread_hours' | 'run_hours',
  options: StatementOptions,
): Promise<void> {
  const old = `${PROJECT} AND hour IN {hours:Array(Int32)}
    AND changes < transform(hour, {hours:Array(Int32)}, {changes:Array(UInt64)}, toUInt64(0))`
  const found = await clickhouse.rows(`SELECT 1 FROM ${table} FINAL WHERE ${old} LIMIT 1`, options)
  if (found.length > 0) await clickhouse.command(`DELETE FROM ${table} WHERE ${old}`, options)
}
