import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '../../src/base/log.ts'
import { retentionSweep } from '../../src/ingest/deletion/retention.ts'
import { STORED_COLUMNS } from '../../src/ingest/store/stored-columns.ts'
import { connectClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { createTraceDeletion } from '../../src/storage/clickhouse/deleting/deletion.ts'
import { migrate } from '../../src/storage/clickhouse/migrate.ts'
import {
  startTestClickHouse,
  temporaryDir,
  until,
} from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'
import { clickHouseDisk } from '../load/disk.ts'
import { fillFragments } from '../load/fill-fragments.ts'
import { fillRuns, RUNS_PER_TRACE } from '../load/fill-runs.ts'

// One sweep of retention over all tables: three of thirty days expire. Fragments are stored as before ADR 0099 or by day:
//   node scripts/launch.mjs bench/store/retention.bench.ts [runs] [old|new] [runs a page] [words of each payload]
const RUNS = Number(process.argv[2] ?? 300_000)
const TABLE = process.argv[3] === 'old' ? 'run_fragments' : 'fragments'
/** 0: as the product does. */
const PAGE = Number(process.argv[4] ?? 0)
const DAYS = 30
const DAY = 86_400_000
const WORDS = Number(process.argv[5] ?? 100)
const LOOK_MS = 1_000
/** Replaced parts stay for a while (engine-config.ts). */
const KEPT_MS = 120_000
const PATIENCE_MS = 3_600_000
const workspace_id = '00000000-0000-7000-8000-000000000001'
const project_id = '00000000-0000-7000-8000-0000000000b1'
const from = Date.UTC(2026, 0, 1)

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
let commands = 0
const counted = {
  ...db,
  async command(...statement: Parameters<typeof db.command>) {
    commands++
    await db.command(...statement)
  },
}

async function cpu(): Promise<number> {
  const stat = await readFile(`/proc/${engine.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

let most = 0
async function look(): Promise<number> {
  const disk = await clickHouseDisk(folder.dir)
  most = Math.max(most, disk)
  return disk
}

try {
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  const traces = Math.floor(RUNS / RUNS_PER_TRACE)
  const to = from + DAYS * DAY
  await fillRuns(db, { workspace_id, project_id, traces, threads: 5_000, from, to, receivedAtStart: true })
  // The last TraceRuns start a little after `to`.
  await fillFragments(db, { table: TABLE, keep_days: DAYS, from, to: to + 60_000, runs: RUNS, words: WORDS })
  const atRest = (): Promise<void> =>
    until(
      'merges end',
      async () => (await db.rows('SELECT 1 FROM system.merges LIMIT 1')).length === 0,
      PATIENCE_MS,
    )
  await atRest()
  await pause(KEPT_MS)
  const clock = testClock(() => from + (DAYS + 3) * DAY + 1.5 * 3_600_000)
  const traceDeletion = createTraceDeletion(counted, STORED_COLUMNS.runs)
  const sweep = retentionSweep(
    {
      traces: { ...traceDeletion, page: PAGE || traceDeletion.page },
      deletions: {
        forget: async () => undefined,
        expiring: async () => [{ workspace_id, project_id, days: DAYS }],
      },
      clock,
      logger: createLogger({ level: 'silent' }),
      ready: Promise.resolve(),
      deletePage: (workspace, run_ids, expired_at) =>
        traceDeletion.deleteRuns(workspace, run_ids, { expired_at }),
    },
    3_600_000,
  )
  const count = async (table: string): Promise<number> =>
    (await db.rows<{ n: number }>(`SELECT toUInt32(count()) AS n FROM ${table}`))[0]!.n
  const [before, began, disk] = [await cpu(), performance.now(), await look()]
  most = 0
  const looks = setInterval(() => void look(), LOOK_MS)
  await sweep.work(new AbortController().signal)
  const [used, took] = [(await cpu()) - before, performance.now() - began]
  await atRest()
  const merged = (await cpu()) - before - used
  clearInterval(looks)
  await pause(KEPT_MS)
  console.log(
    `${TABLE}, ${PAGE || traceDeletion.page} a page: ${RUNS} runs, ${await count('runs')} left, ${await count(TABLE)} fragments; ${used.toFixed(2)} s CPU, ${merged.toFixed(2)} s of merges after it, ${(took / 1000).toFixed(1)} s, ${commands} statements; disk ${disk} MB, at most ${most} MB, after it ${await look()} MB`,
  )
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
