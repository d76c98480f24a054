import { createLogger } from '../../src/base/log.ts'
import type { ListQuery } from '../../src/ingest/store/trace-store.ts'
import type { StatsQuery } from '../../src/ingest/store/stats-store.ts'
import { STORED_COLUMNS } from '../../src/ingest/store/stored-columns.ts'
import { type ClickHouse, connectClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { fillHourChanges } from '../../src/storage/clickhouse/hours/fill-hour-changes.ts'
import { MAX_DAYS, rollDays } from '../../src/storage/clickhouse/hours/roll-days.ts'
import { MAX_HOURS, rollHours } from '../../src/storage/clickhouse/hours/roll-hours.ts'
import { listSql } from '../../src/storage/clickhouse/list-sql.ts'
import { migrate } from '../../src/storage/clickhouse/migrate.ts'
import { createTraceStore } from '../../src/storage/clickhouse/trace-store.ts'
import { parseFilter } from '../../src/trace/filter/filter.ts'
import {
  startTestClickHouse,
  temporaryDir,
} from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { fillRuns, RUNS_PER_TRACE } from '../load/fill-runs.ts'
import { atRest, medianUse, usedBy } from './engine-cpu.ts'

// CPU of the engine for figures before and after they are kept by hour (ADR 0098), and for filters that find nothing with
// and without indexes:
//   node scripts/launch.mjs bench/store/kept-figures.bench.ts [runs]
const RUNS = Number(process.argv[2] ?? 1_000_000)
const DAY = 86_400_000
const HOUR = 3_600_000_000
const TIMES = 5
const workspace_id = '00000000-0000-7000-8000-000000000001'
const project_id = '00000000-0000-7000-8000-0000000000b1'
const to = Date.UTC(2026, 0, 1)
const signal = new AbortController().signal
const logger = createLogger({ level: 'silent' })

async function measure(db: ClickHouse, what: string, work: () => Promise<unknown>): Promise<void> {
  const { cpu, rows } = await medianUse(db, work, TIMES)
  const [ms, read] = [cpu.toFixed(0).padStart(6), String(rows).padStart(9)]
  console.log(`${what.padEnd(40)} ${ms} ms of CPU, ${read} rows`)
}

const month = { start_time: (to - 30 * DAY) * 1000, end_time: to * 1000 }
const day = { start_time: (to - DAY) * 1000, end_time: to * 1000 }
const cut = { start_time: day.start_time + 0.3 * HOUR, end_time: day.end_time - 0.1 * HOUR }
const FIGURES: Record<string, Partial<StatsQuery>> = {
  'traces of a day': { ...day, is_root: true, histograms: true },
  'runs of a day': day,
  'runs of a day that cuts hours': cut,
  'traces of a month': { ...month, is_root: true, histograms: true },
  'traces of a month, by 12 hours': { ...month, is_root: true, interval: 12 * HOUR },
  'failed traces of a month': { ...month, is_root: true, filter: parseFilter('eq(status, "error")') },
  'runs of a month': month,
  'runs of a month, by model': { ...month, group_by: { by: 'model', max_groups: 8 } },
}
const NONE = [
  'eq(name, "none")',
  'has(tags, "none")',
  'and(eq(metadata_key, "env"), eq(metadata_value, "none"))',
]

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
try {
  await migrate(db, { logger })
  const traces = Math.floor(RUNS / RUNS_PER_TRACE)
  await fillRuns(db, { workspace_id, project_id, traces, threads: 50_000, from: to - 30 * DAY, to })
  await atRest(db)
  const store = createTraceStore(db, STORED_COLUMNS)
  const figures = async (when: string): Promise<void> => {
    for (const [what, query] of Object.entries(FIGURES))
      await measure(db, `${when}: ${what}`, () =>
        store.runStats(workspace_id, { project_ids: [project_id], ...query }),
      )
    await measure(db, `${when}: project in a list`, () => store.projectStats(workspace_id, [project_id]))
  }
  await figures('rows')
  await fillHourChanges(db, signal, logger)
  const before = await usedBy(db)
  while ((await rollHours(db, signal, 'all', 0)) === MAX_HOURS);
  while ((await rollDays(db, signal)) === MAX_DAYS);
  await atRest(db)
  console.log(`computing all hours and days: ${((await usedBy(db)).cpu - before.cpu).toFixed(0)} ms of CPU`)
  await figures('kept')
  for (const filter of NONE) {
    const query: ListQuery = {
      project_ids: [project_id],
      order: 'desc',
      limit: 20,
      filter: parseFilter(filter),
    }
    const { sql, params } = listSql(STORED_COLUMNS.runs, query)
    await measure(db, `${filter}, without indexes`, () =>
      db.rowBinary(sql, { params: { ...params, workspace_id }, settings: { use_skip_indexes: 0 } }),
    )
    await measure(db, filter, () => store.list(workspace_id, query))
  }
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
