import { createLogger } from '../src/base/log.ts'
import { connectClickHouse } from '../src/storage/clickhouse/connect.ts'
import { migrate } from '../src/storage/clickhouse/migrate.ts'
import { createUsageRollups } from '../src/storage/clickhouse/usage/rollups.ts'
import { createUsageSource } from '../src/storage/clickhouse/usage/source.ts'
import { GROUPINGS } from '../src/usage/report/source.ts'
import { startTestClickHouse, temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'

// Reads a year of usage from rollups, and compares with counting the traces themselves, in one run:
//   node scripts/launch.mjs bench/usage.bench.ts [traces]
const TRACES = Number(process.argv[2] ?? 20_000_000)
const PER_INSERT = 1_000_000
const [WORKSPACES, PROJECTS, USERS, KEYS] = [10, 200, 50, 100]
const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR_FROM = Date.UTC(2025, 0, 1)
const YEAR_TO = YEAR_FROM + 365 * DAY

const idSql = (kind: number, n: string): string =>
  `toUUID(concat('00000000-0000-7000-800${kind}-', leftPad(toString(${n}), 12, '0')))`
const workspaces = Array.from(
  { length: WORKSPACES },
  (_, n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
)

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function median(times: number, work: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await milliseconds(work))
  return all.toSorted((a, b) => a - b)[Math.floor(times / 2)]!
}

function say(what: string, ms: number): void {
  console.log(`${what.padEnd(48)} ${ms.toFixed(ms < 100 ? 1 : 0).padStart(9)} ms`)
}

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
try {
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  for (let from = 0; from < TRACES; from += PER_INSERT) {
    await db.command(
      `INSERT INTO usage_traces
       SELECT ${idSql(0, `project % ${WORKSPACES}`)}, toInt32(intDiv(at, ${HOUR})), generateUUIDv4(number), 1, 0, at,
         ${idSql(2, 'project')}, ${idSql(3, `rand(number + 1) % ${USERS}`)}, ${idSql(4, `rand(number + 2) % ${KEYS}`)}
       FROM (SELECT number, rand(number) % ${PROJECTS} AS project,
               toInt64(${YEAR_FROM} + rand64(number) % ${YEAR_TO - YEAR_FROM}) AS at
             FROM numbers(${from}, ${Math.min(PER_INSERT, TRACES - from)}))`,
    )
  }
  console.log(
    `${TRACES} traces, ${PROJECTS} projects, ${USERS} users, ${KEYS} keys, ${WORKSPACES} workspaces, a year`,
  )
  say('all rollups, built', await milliseconds(() => createUsageRollups(db).rebuild()))
  const source = createUsageSource(db)
  const query = { workspace_ids: workspaces, start: YEAR_FROM, end: YEAR_TO, origin: YEAR_FROM }
  const year = { ...query, stride: { days: 30, hours: 0 } }
  for (const group_by of GROUPINGS)
    say(`the year by ${group_by}, median of 21`, await median(21, () => source.count({ ...year, group_by })))
  const ragged = {
    ...year,
    start: YEAR_FROM + HOUR / 2,
    end: YEAR_TO - HOUR / 2,
    group_by: 'project',
  } as const
  say('the year by project but for two half hours', await median(21, () => source.count(ragged)))
  const direct = await median(3, () =>
    db.rows(
      `SELECT intDiv(start - ${YEAR_FROM}, ${30 * DAY}) AS bucket, workspace_id, project_id, count() AS traces
       FROM usage_traces FINAL WHERE workspace_id IN {workspaces:Array(UUID)}
         AND start >= ${YEAR_FROM} AND start < ${YEAR_TO}
       GROUP BY bucket, workspace_id, project_id`,
      { params: { workspaces } },
    ),
  )
  say('counting the traces with FINAL, median of 3', direct)
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
