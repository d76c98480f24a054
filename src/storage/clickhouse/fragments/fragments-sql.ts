/** A read of the stored fragments of one workspace. */
interface FragmentsRead {
  columns: string
  /** Condition on `run_id`; default: all TraceRuns. */
  ofRuns?: string | undefined
  /** Further conditions. */
  where?: readonly string[]
  /** ClickHouse reads the other columns only of rows that satisfy PREWHERE. */
  keyword?: 'WHERE' | 'PREWHERE'
  /** The end of the statement, for each of the tables. */
  end?: string
}

const OF_WORKSPACE = 'workspace_id = {workspace_id:UUID}'
const PLACE = 'keep_days, day, begun, run_id'

/**
 * SELECT of fragments, which are in `fragments`, or in `run_fragments` if they were stored before docs/adr/0099. Equal
 * fragments may be in several parts and days, so duplicates are possible. The statement has the parameter
 * `workspace_id`.
 */
export function fragmentsSql(read: FragmentsRead): string {
  const { columns, ofRuns, where = [], keyword = 'PREWHERE', end = '' } = read
  const from = (table: string, runs: string | undefined): string => {
    const conditions = [OF_WORKSPACE, ...(runs === undefined ? [] : [runs]), ...where]
    return `SELECT ${columns} FROM ${table} ${keyword} ${conditions.join(' AND ')} ${end}`
  }
  return `${from('fragments', ofRuns === undefined ? undefined : placedSql(ofRuns))}
    UNION ALL ${from('run_fragments', ofRuns)}`
}

/**
 * Condition on rows of `fragments`: those of the TraceRuns that satisfy `ofRuns`, without those that retention hides.
 */
function placedSql(ofRuns: string): string {
  return `(${PLACE}) IN (SELECT ${PLACE} FROM fragment_places WHERE ${OF_WORKSPACE} AND ${ofRuns})`
}
