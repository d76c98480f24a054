import type { ClickHouse } from '../connect.ts'

/** Fragments as encoded rows, in the same format as in the ingest log. */
export interface FragmentRows {
  count: number
  rows: Buffer
}

interface LateRun {
  workspace_id: string
  run_id: string
  fragments: number
  bytes: number
}

const PAGE_RUNS = 10_000
const GROUP_BYTES = 8 << 20
const GROUP_RUNS = 500
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** The fragments received since `since`, as rows of `columns`. All fragments of one TraceRun are in the same item. */
export async function* lateFragments(
  clickhouse: ClickHouse,
  { columns, since }: { columns: readonly string[]; since: Date },
): AsyncGenerator<FragmentRows> {
  const params = { since: since.toISOString().replace('T', ' ').replace('Z', '') }
  let after = { workspace_id: NOBODY, run_id: NOBODY }
  for (;;) {
    const runs = await clickhouse.rows<LateRun>(
      `SELECT workspace_id, run_id, count() AS fragments, sum(arraySum(sizes)) AS bytes
        FROM (${lateSql('workspace_id, run_id, sizes', '(workspace_id, run_id) > ({workspace_id:UUID}, {run_id:UUID})')})
        GROUP BY workspace_id, run_id ORDER BY workspace_id, run_id LIMIT ${PAGE_RUNS}`,
      { params: { ...params, ...after } },
    )
    for (const group of groupsOf(runs)) {
      const rows = await clickhouse.rowBinary(
        lateSql(columns.join(', '), 'workspace_id = {workspace_id:UUID} AND run_id IN {run_ids:Array(UUID)}'),
        {
          params: {
            ...params,
            workspace_id: group[0]!.workspace_id,
            run_ids: group.map(({ run_id }) => run_id),
          },
        },
      )
      yield { count: group.reduce((sum, { fragments }) => sum + fragments, 0), rows }
    }
    const last = runs.at(-1)
    if (last === undefined || runs.length < PAGE_RUNS) return
    after = last
  }
}

/** SELECT of the fragments received since `since`. */
function lateSql(columns: string, condition: string): string {
  return ['fragments', 'run_fragments']
    .map(
      (table) =>
        `SELECT ${columns} FROM ${table} WHERE received_at >= {since:DateTime64(3, 'UTC')} AND ${condition}`,
    )
    .join(' UNION ALL ')
}

/** Groups of TraceRuns of one workspace; the fragments of a group are read by one statement. */
function groupsOf(runs: readonly LateRun[]): LateRun[][] {
  const groups: LateRun[][] = []
  let room = 0
  for (const run of runs) {
    const group = groups.at(-1)
    const fits =
      group?.[0]?.workspace_id === run.workspace_id && group.length < GROUP_RUNS && run.bytes <= room
    if (group !== undefined && fits) group.push(run)
    else groups.push([run])
    room = (fits ? room : GROUP_BYTES) - run.bytes
  }
  return groups
}
