import { expect, it, vi } from 'vitest'
import {
  type FilledProject,
  fillEarlierTables,
  isUpgraded,
  withEngine,
} from '../../../bench/load/earlier-store.ts'
import { createLogger } from '../../../src/base/log.ts'
import { type ClickHouse, connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import type { EngineAddress } from '../../../src/storage/clickhouse/embedded/address.ts'
import { migrate } from '../../../src/storage/clickhouse/migrate.ts'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { BLOWS, killRounds } from '../../support/faults/kill/kill-rounds.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { startTestClickHouse, until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { usageRounds } from '../../support/usage/rounds.ts'

// Each round kills a server while it upgrades a store, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: 3 * LONG_MS, hookTimeout: LONG_MS })

/** The migration before figures by hour, indexes for filters and fragments by day. */
const LAST = 17
const DAY = 86_400_000
const RUNS = campaign(200_000, 20_000)
const STARTS = campaign(8, 3)
const TIMES = campaign(4)
const TRACES = campaign(20_000)
const KILLS = campaign(8, 2)
/** Seconds in which a start migrates the tables; a kill comes within this time. */
const START_SECONDS = 12

const to = Math.floor(Date.now() / DAY) * DAY
const project: FilledProject = {
  workspace_id: '00000000-0000-7000-8000-000000000001',
  project_id: '00000000-0000-7000-8000-0000000000b1',
  runs: RUNS - (RUNS % 7),
  from: to - 30 * DAY,
  to,
}

function connect(engine: EngineAddress): ClickHouse {
  return connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
}

async function fillEngine(engine: EngineAddress): Promise<void> {
  const db = connect(engine)
  await migrate(db, { logger: createLogger({ level: 'silent' }), last: LAST })
  await fillEarlierTables(db, project)
  await db.close()
}

async function fillFolder(dataDir: string): Promise<void> {
  const engine = await startTestClickHouse(dataDir)
  await fillEngine(engine)
  await engine.stop()
}

/** Starts on the folder that are killed at random moments, most of them before the tables are migrated. */
async function killStarts(dataDir: string): Promise<void> {
  for (let start = 0; start < STARTS; start++) {
    const seconds = (0.5 + Math.random() * START_SECONDS).toFixed(2)
    const started = startWeir(dataDir, {}, [], undefined, ['timeout', '-s', 'KILL', seconds])
    const weir = await started.catch(() => undefined)
    if (weir !== undefined) await until('it is killed', () => !weir.isAlive())
  }
}

/** Number of the earlier release's TraceRuns, as far as each table of the new one knows them. */
const KNOWN = `SELECT
    (SELECT count() FROM runs FINAL WHERE MINE) AS rows,
    (SELECT count() FROM run_fragments FINAL WHERE MINE) AS fragments,
    (SELECT count() FROM usage_traces FINAL WHERE MINE) * 7 AS counted,
    (SELECT uniqExact(run_id) FROM thread_runs WHERE MINE) AS in_threads,
    (SELECT sum(runs) FROM run_hours FINAL WHERE MINE AND subject = 'run' AND grouping = ''
       AND (hour, changes) IN (SELECT hour, changes FROM figure_hours FINAL WHERE MINE)) AS in_hours,
    (SELECT sum(turns) FROM thread_hours FINAL WHERE MINE
       AND (hour, changes) IN (SELECT hour, changes FROM figure_hours FINAL WHERE MINE)) * 7 AS turns`

async function expectUpgraded({ dataDir }: WeirProcess): Promise<void> {
  await until('the upgrade has ended', () => withEngine(dataDir, isUpgraded), LONG_MS)
  let known: Record<string, number> = {}
  await withEngine(dataDir, async (db) => {
    const mine = `workspace_id = '${project.workspace_id}' AND project_id = '${project.project_id}'`
    known = (await db.rows<Record<string, number>>(KNOWN.replaceAll('MINE', mine)))[0]!
    return true
  })
  const { runs } = project
  const all = { rows: runs, fragments: runs, counted: runs, in_threads: runs, in_hours: runs, turns: runs }
  expect(known).toEqual(all)
}

it(`an upgrade of ${RUNS} runs that is killed ${STARTS} times at the start, and under load ${TIMES * BLOWS.length} times, loses nothing and has nothing twice`, async () => {
  const blows = Array.from({ length: TIMES }, () => BLOWS).flat()
  const acknowledged = await killRounds(blows, {
    async make(dataDir) {
      await fillFolder(dataDir)
      await killStarts(dataDir)
    },
    check: expectUpgraded,
  })
  console.log(`${acknowledged} TraceRuns acknowledged during the upgrade, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(blows.length * 50)
})

const reason = withoutPostgres()

it.skipIf(reason !== '')(
  `usage is exact for ${TRACES} traces and ${KILLS} kills while two servers upgrade a store${reason}`,
  () => usageRounds(TRACES, KILLS, fillEngine),
)
