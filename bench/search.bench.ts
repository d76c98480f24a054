import { createLogger } from '../src/base/log.ts'
import { STORED_COLUMNS } from '../src/ingest/store/stored-columns.ts'
import { connectClickHouse } from '../src/storage/clickhouse/connect.ts'
import { indexWords } from '../src/storage/clickhouse/search/index-words.ts'
import { migrate } from '../src/storage/clickhouse/migrate.ts'
import { createTraceStore } from '../src/storage/clickhouse/trace-store.ts'
import { parseFilter } from '../src/trace/filter/filter.ts'
import {
  startTestClickHouse,
  temporaryDir,
  until,
} from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { fillRuns, RUNS_PER_TRACE } from './load/fill-runs.ts'

// Searches payloads before and after the index of words is built, and compares with a plain scan of the same payloads:
//   node scripts/launch.mjs bench/search.bench.ts [runs]
const RUNS = Number(process.argv[2] ?? 100_000)
const STEP = 3_500
const TIMES = 5
const DAY = 86_400_000
const workspace_id = '00000000-0000-7000-8000-000000000001'
const project_id = '00000000-0000-7000-8000-0000000000b1'
const to = Date.UTC(2026, 0, 1)

/**
 * Fills each row of table `runs` with 6.5 KB of words from a vocabulary of 60,000, in which some words are more
 * frequent than others.
 */
const FILL = `INSERT INTO fragments (workspace_id, run_id, rank, hash, received_at, inputs, outputs)
  WITH sipHash64(run_id) AS seed,
    arrayMap(i -> toUInt32(exp((sipHash64(seed, i) % 1000000) / 1000000 * log(60000))), range(1000)) AS numbers,
    arrayMap(x -> substring(lower(hex(sipHash64(x))), 1, 3 + x % 6), numbers) AS words
  SELECT workspace_id, run_id, 1, toFixedString('', 16), received_at,
    concat('{"messages":[{"role":"user","content":"', arrayStringConcat(arraySlice(words, 1, 800), ' '), '"}]}'),
    concat('{"content":"', arrayStringConcat(arraySlice(words, 800), ' '), '\\\\nrare', toString(call_id), 'word"}')
  FROM (SELECT * FROM runs ORDER BY run_id LIMIT {step:UInt32} OFFSET {from:UInt32})
  SETTINGS exclude_materialize_skip_indexes_on_insert = 'words', max_block_size = 500, max_threads = 1`

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })

/** Median time in milliseconds. */
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < TIMES; i++) {
    const started = performance.now()
    await work()
    times.push(performance.now() - started)
  }
  const sorted = times.toSorted((a, b) => a - b)
  console.log(
    `${what.padEnd(40)} median ${sorted[2]!.toFixed(0).padStart(6)} ms, least ${sorted[0]!.toFixed(0)}`,
  )
}

try {
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  const traces = Math.floor(RUNS / RUNS_PER_TRACE)
  await fillRuns(db, { workspace_id, project_id, traces, threads: 5_000, from: to - 30 * DAY, to })
  for (let from = 0; from < RUNS; from += STEP) await db.command(FILL, { params: { step: STEP, from } })
  const store = createTraceStore(db, STORED_COLUMNS)
  const call = 1000 + Math.floor(traces / 2) * RUNS_PER_TRACE + 2
  const searches = {
    'a word of one run': `search("rare${call}word")`,
    'a part of a word': `search("re${call}wor")`,
    'a word of every run': 'search("b366e")',
    'a word of no run': 'search("zygomorphic")',
  }
  const all = async (when: string): Promise<void> => {
    await measure(`${when}: bare scan`, () =>
      db.rows(
        "SELECT countSubstrings(inputs, 'zq') + countSubstrings(outputs, 'zq') AS n, count() FROM fragments GROUP BY n",
      ),
    )
    for (const [what, expression] of Object.entries(searches))
      await measure(`${when}: ${what}`, () =>
        store.list(workspace_id, {
          project_ids: [project_id],
          filter: parseFilter(expression),
          order: 'desc',
          limit: 100,
        }),
      )
  }
  await all('scanned')
  const started = performance.now()
  await indexWords(db, { min_rows: 1, quiet_seconds: 0 })
  await until(
    'the index is built',
    async () => (await db.rows('SELECT 1 FROM system.mutations WHERE NOT is_done')).length === 0,
    3_600_000,
  )
  console.log(`the index took ${((performance.now() - started) / 1000).toFixed(1)} s`)
  console.log(
    await db.rows(
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) AS bytes, sum(secondary_indices_compressed_bytes) AS index_bytes
       FROM system.parts WHERE active AND table = 'fragments'`,
    ),
  )
  await all('indexed')
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
