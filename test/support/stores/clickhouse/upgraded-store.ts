import { expect } from 'vitest'
import { type FilledProject, fillEarlierTables, isUpgraded } from '../../../../bench/load/earlier-store.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { type ClickHouse, connectClickHouse } from '../../../../src/storage/clickhouse/connect.ts'
import { type EngineAddress, readAddress } from '../../../../src/storage/clickhouse/embedded/address.ts'
import { migrate } from '../../../../src/storage/clickhouse/migrate.ts'
import { LONG_MS } from '../../campaign.ts'
import { until } from './embedded-clickhouse.ts'

/** The migration before figures by hour, indexes for filters and fragments by day. */
const LAST = 17
const DAY = 86_400_000
const RUNS_PER_TRACE = 7
const to = Math.floor(Date.now() / DAY) * DAY

/** TraceRuns of an earlier release in a ClickHouse: `runs` of them, a multiple of seven. */
export function earlierProject(runs: number): FilledProject {
  return {
    workspace_id: '00000000-0000-7000-8000-000000000001',
    project_id: '00000000-0000-7000-8000-0000000000b1',
    runs: runs - (runs % RUNS_PER_TRACE),
    from: to - 30 * DAY,
    to,
  }
}

async function connected<T>(
  engine: EngineAddress & { database?: string },
  work: (db: ClickHouse) => Promise<T>,
): Promise<T> {
  const db = connectClickHouse({ database: 'weir', ...engine, maxExecutionSeconds: 600 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Creates the tables of the earlier release, and fills them. */
export async function fillEarlier(
  engine: EngineAddress & { database?: string },
  project: FilledProject,
): Promise<void> {
  await connected(engine, async (db) => {
    await migrate(db, { logger: createLogger({ level: 'silent' }), last: LAST })
    await fillEarlierTables(db, project)
  })
}

/** Number of the project's TraceRuns, as far as each table knows them. */
const KNOWN = `SELECT
    (SELECT count() FROM runs FINAL WHERE MINE) AS rows,
    (SELECT count() FROM run_fragments FINAL WHERE MINE) AS fragments,
    (SELECT count() FROM usage_traces FINAL WHERE MINE) * ${RUNS_PER_TRACE} AS counted,
    (SELECT uniqExact(run_id) FROM thread_runs WHERE MINE) AS in_threads,
    (SELECT sum(runs) FROM run_hours FINAL WHERE MINE AND subject = 'run' AND grouping = ''
       AND (hour, changes) IN (SELECT hour, changes FROM figure_hours FINAL WHERE MINE)) AS in_hours,
    (SELECT sum(turns) FROM thread_hours FINAL WHERE MINE
       AND (hour, changes) IN (SELECT hour, changes FROM figure_hours FINAL WHERE MINE)) * ${RUNS_PER_TRACE} AS turns`

/** Waits until a running server has upgraded the store, and expects each of the project's TraceRuns there once. */
export async function expectUpgraded(
  engine: (EngineAddress & { database?: string }) | { dataDir: string },
  project: FilledProject,
): Promise<void> {
  const { runs } = project
  const mine = `workspace_id = '${project.workspace_id}' AND project_id = '${project.project_id}'`
  const address = 'dataDir' in engine ? await readAddress(engine.dataDir) : engine
  if (address === undefined) throw new Error('there is no engine')
  await connected(address, async (db) => {
    await until('the upgrade has ended', () => isUpgraded(db), LONG_MS)
    const [known] = await db.rows<Record<string, number>>(KNOWN.replaceAll('MINE', mine))
    const all = {
      rows: runs,
      fragments: runs,
      counted: runs,
      in_threads: runs,
      in_hours: runs,
      turns: runs,
    }
    expect(known).toEqual(all)
  })
}
