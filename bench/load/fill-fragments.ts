import type { ClickHouse } from '../../src/storage/clickhouse/connect.ts'

/** Fragments for the TraceRuns in table `runs`, one for each. */
export interface FilledFragments {
  /** `run_fragments` is the table before ADR 0099. */
  table: 'fragments' | 'run_fragments'
  /** Retention of the project in days; 0: for ever. */
  keep_days: number
  /** Epoch milliseconds: start of the first TraceRun, and a time after the start of the last one. */
  from: number
  to: number
  runs: number
  /** Number of words in the inputs, and in the outputs; 100 words are 600 bytes. */
  words: number
}

/** Maximum number of fragments of one insert, about. */
const STEP = 20_000
/** Number of different texts: so many that a compressed block has hardly one of them twice. */
const TEXTS = 65_536

export async function fillFragments(db: ClickHouse, fill: FilledFragments): Promise<void> {
  const { table, keep_days, from, to, runs, words } = fill
  const isByDay = table === 'fragments'
  await db.command('CREATE TABLE filled_texts (n UInt64, text String) ENGINE = Join(ANY, LEFT, n)')
  await db.command(
    `INSERT INTO filled_texts SELECT number, arrayStringConcat(arrayMap(i -> substring(lower(hex(sipHash64(toUInt64(exp(
       (sipHash64(number, i) % 1000000) / 1000000 * log(60000)))))), 1, 3 + i % 6), range(${words})), ' ')
     FROM numbers(${TEXTS})`,
  )
  const text = (seed: string): string =>
    `joinGet(concat(currentDatabase(), '.filled_texts'), 'text', toUInt64(sipHash64(${seed}) % ${TEXTS}))`
  const slices = Math.ceil(runs / STEP)
  const edge = (slice: number): number => from + Math.floor(((to - from) * slice) / slices)
  for (let slice = 0; slice < slices; slice++)
    await db.command(
      `INSERT INTO ${table} (workspace_id, run_id, rank, hash, received_at, project_id, head, inputs, outputs${isByDay ? ', keep_days' : ''})
       SELECT workspace_id, run_id, 1, toFixedString(substring(MD5(toString(run_id)), 1, 16), 16), received_at, project_id,
         concat('{"id":"', toString(run_id), '","trace_id":"', toString(trace_id), '","dotted_order":"', dotted_order, '"}'),
         concat('{"text":"', ${text('trace_id')}, '"}'), concat('{"text":"', ${text('run_id')}, '"}')${isByDay ? `, ${keep_days}` : ''}
       FROM runs
       WHERE sort_time >= fromUnixTimestamp64Milli({from:Int64}) AND sort_time < fromUnixTimestamp64Milli({to:Int64})
       SETTINGS exclude_materialize_skip_indexes_on_insert = 'words', max_threads = 1, max_partitions_per_insert_block = 100`,
      { params: { from: edge(slice), to: edge(slice + 1) } },
    )
  await db.command('DROP TABLE filled_texts')
}
