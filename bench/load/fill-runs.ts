import type { ClickHouse } from '../../src/storage/clickhouse/connect.ts'

/** The workspace, project and range of times of the TraceRuns with which a store is filled. */
export interface FilledRuns {
  workspace_id: string
  project_id: string
  /** Number of traces; each has RUNS_PER_TRACE TraceRuns. */
  traces: number
  threads: number
  /** Epoch milliseconds: start of the first trace, and the exclusive end of the starts. */
  from: number
  to: number
  /** Whether TraceRuns were received when they started; default: now. */
  receivedAtStart?: boolean
}

/** TraceRuns of each trace: a root, two steps, three calls of models, one tool. */
export const RUNS_PER_TRACE = 7
const TRACES_PER_INSERT = 8_000

/** SQL of an id like UUIDv7: it begins with the time, and pseudo-random digits follow. */
const idSql = (micros: string, seed: string): string => `toUUID(concat(
  leftPad(lower(hex(toUInt64(intDiv(${micros}, 1000)))), 12, '0'), '7', substring(lower(hex(MD5(${seed}))), 1, 3),
  '8', substring(lower(hex(MD5(${seed}))), 5, 15)))`
const segmentSql = (micros: string, id: string): string =>
  `concat(formatDateTime(fromUnixTimestamp64Micro(${micros}), '%Y%m%dT%H%i%S%f'), 'Z', toString(${id}))`

function startSql({ from, to, traces }: Pick<FilledRuns, 'from' | 'to' | 'traces'>, trace: string): string {
  return `(toInt64(${from * 1000}) + intDiv(toInt64(${trace}) * ${(to - from) * 1000}, ${traces}))`
}

/**
 * Fills table `runs` with rows like those of ingest. Traces are spread evenly over the time, and over the threads in
 * turn.
 */
export async function fillRuns(db: ClickHouse, fill: FilledRuns): Promise<void> {
  const { workspace_id, project_id, traces, threads } = fill
  const received = fill.receivedAtStart ? 'fromUnixTimestamp64Milli(intDiv(start, 1000))' : 'now64(3)'
  for (let from = 0; from < traces; from += TRACES_PER_INSERT) {
    const count = Math.min(TRACES_PER_INSERT, traces - from)
    await db.command(
      `INSERT INTO runs (workspace_id, project_id, sort_time, run_id, version, trace_id, parent_run_id, dotted_order, name,
         run_type, status, start_time, end_time, first_token_time, received_at, inputs_preview, outputs_preview, error, tags,
         thread_id, metadata, provider, model, input_tokens, output_tokens, input_cost, output_cost, total_cost,
         input_source, output_source, checks, call_id)
       WITH number % ${RUNS_PER_TRACE} AS i, intDiv(number, ${RUNS_PER_TRACE}) AS t,
         ${startSql(fill, 't')} AS root_start, root_start + i * 20000 AS start,
         i IN (2, 4, 6) AS is_llm, i IN (2, 5) AS is_deep,
         ${idSql('root_start', "concat('0/', toString(t))")} AS root_id,
         ${idSql('root_start + 20000', "concat('1/', toString(t))")} AS step_id,
         if(i = 0, root_id, ${idSql('start', "concat(toString(i), '/', toString(t))")}) AS id,
         ${segmentSql('root_start', 'root_id')} AS root_order,
         concat(root_order, '.', ${segmentSql('root_start + 20000', 'step_id')}) AS step_order,
         rand(number) % 1000 AS dice
       SELECT toUUID('${workspace_id}'), toUUID('${project_id}'), fromUnixTimestamp64Micro(start),
         if(i = 1, step_id, id), 2097152, root_id,
         if(i = 0, toUUID('00000000-0000-0000-0000-000000000000'), if(is_deep, step_id, root_id)),
         if(i = 0, root_order, if(i = 1, step_order,
           concat(if(is_deep, step_order, root_order), '.', ${segmentSql('start', 'id')}))),
         ['agent', 'plan', 'ChatOpenAI', 'search', 'ChatOpenAI', 'retrieve', 'ChatAnthropic'][i + 1],
         ['chain', 'chain', 'llm', 'tool', 'llm', 'retriever', 'llm'][i + 1],
         if(dice < 20, 'error', 'success'), fromUnixTimestamp64Micro(start),
         fromUnixTimestamp64Micro(start + if(i = 0, 900000, 300000) + dice * 1000),
         if(is_llm, fromUnixTimestamp64Micro(start + 50000 + dice * 100), NULL), ${received},
         concat('What is the state of order ', toString(t), '?'), concat('It is on its way, says step ', toString(i), '.'),
         if(dice < 20, 'TimeoutError: no answer in 30 s', ''), ['prod', concat('team-', toString(t % 5))],
         concat('thread-', toString(t % ${threads})),
         map('thread_id', concat('thread-', toString(t % ${threads})), 'env', if(t % 10 = 0, 'dev', 'prod')),
         if(is_llm, if(i = 6, 'anthropic', 'openai'), ''), if(is_llm, if(i = 6, 'claude-sonnet-4-5', 'gpt-4.1-mini'), ''),
         if(is_llm, 500 + dice, NULL), if(is_llm, 100 + dice % 100, NULL),
         if(is_llm, toDecimal128(0.0002, 18), NULL), if(is_llm, toDecimal128(0.0001, 18), NULL),
         if(is_llm, toDecimal128(0.0003, 18), NULL), if(is_llm, 'client', ''), if(is_llm, 'client', ''), if(is_llm, 15, 0),
         if(is_llm, 1000 + number, 0)
       FROM numbers(${from * RUNS_PER_TRACE}, ${count * RUNS_PER_TRACE})`,
    )
  }
}

/** Adds a trace to the store: a root, and `runs` - 1 TraceRuns in steps of 100. */
export async function fillLargeTrace(
  db: ClickHouse,
  { workspace_id, project_id, to }: Pick<FilledRuns, 'workspace_id' | 'project_id' | 'to'>,
  runs: number,
): Promise<string> {
  const start = to * 1000
  const rootId = idSql(`toInt64(${start})`, "'large'")
  await db.command(
    `INSERT INTO runs (workspace_id, project_id, sort_time, run_id, version, trace_id, parent_run_id, dotted_order, name,
       run_type, status, start_time, end_time, received_at, provider, model, input_tokens, output_tokens, input_cost,
       output_cost, total_cost, checks)
     WITH number AS n, intDiv(n, 100) * 100 AS s, toInt64(${start}) + n * 7919 AS start, ${rootId} AS root_id,
       toInt64(${start}) + s * 7919 AS step_start,
       if(s = 0, root_id, ${idSql('step_start', "concat('l', toString(s))")}) AS step_id,
       if(n = 0, root_id, if(n = s, step_id, ${idSql('start', "concat('l', toString(n))")})) AS id,
       ${segmentSql(`toInt64(${start})`, 'root_id')} AS root_order,
       concat(root_order, '.', ${segmentSql('step_start', 'step_id')}) AS step_order,
       n % 100 > 1 AND n % 3 = 0 AS is_llm
     SELECT toUUID('${workspace_id}'), toUUID('${project_id}'), fromUnixTimestamp64Micro(start), id, 2097152, root_id,
       if(n = 0, toUUID('00000000-0000-0000-0000-000000000000'), if(n = s, root_id, step_id)),
       if(n = 0, root_order, if(n = s, step_order, concat(if(s = 0, root_order, step_order), '.',
         ${segmentSql('start', 'id')}))),
       if(n = 0, 'batch', if(n = s, 'step', if(is_llm, 'ChatOpenAI', concat('tool-', toString(n % 40))))),
       if(is_llm, 'llm', if(n = s, 'chain', 'tool')), if(n % 97 = 0, 'error', 'success'),
       fromUnixTimestamp64Micro(start), fromUnixTimestamp64Micro(start + 250000 + rand(n) % 1000000), now64(3),
       if(is_llm, 'openai', ''), if(is_llm, 'gpt-4.1-mini', ''),
       if(is_llm, 500 + rand(n) % 1000, NULL), if(is_llm, 100 + rand(n) % 100, NULL),
       if(is_llm, toDecimal128(0.0002, 18), NULL), if(is_llm, toDecimal128(0.0001, 18), NULL),
       if(is_llm, toDecimal128(0.0003, 18), NULL), if(is_llm, 15, 0)
     FROM numbers(${runs})`,
  )
  const [found] = await db.rows<{ id: string }>(`SELECT ${rootId} AS id`)
  return found!.id
}
