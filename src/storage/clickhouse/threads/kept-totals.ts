import type { ThreadSummary, ThreadWindow } from '../../../ingest/store/thread-store.ts'
import type { ClickHouse, SqlParams } from '../connect.ts'
import { type KnownHours, knownHours } from '../hours/known-hours.ts'
import { inHours } from '../hours/trace-hour.ts'
import { PROJECT } from './turns-sql.ts'
import { usageShape } from '../usage/counted-sql.ts'
import { THREAD_HOUR_COLUMNS, threadHoursSql, threadTotalsSql } from './hours-sql.ts'
import { THREAD_TIMES } from '../list-sql.ts'

type Texts = 'first_inputs' | 'last_outputs' | 'last_error'
type Place = 'first' | 'last' | 'failed'
type TotalsRow = Omit<ThreadSummary, Texts> &
  Record<`${Place}_start`, number> &
  Record<`${Place}_trace_id` | `${Place}_run_id`, string>
type TextsRow = { run_id: string; inputs: string; outputs: string; error: string }

/**
 * Figures of these threads from the kept figures of hours, and of the hours without kept figures from their rows.
 * Percentiles of the latency have an error of 1 %. Undefined if kept figures must not be used.
 */
export async function threadTotals(
  clickhouse: ClickHouse,
  workspace_id: string,
  window: ThreadWindow,
  thread_ids: readonly string[],
): Promise<ThreadSummary[] | undefined> {
  const known = await knownHours(clickhouse, workspace_id, window)
  if (known === undefined) return undefined
  const params = {
    ...known.params,
    threads: thread_ids,
    threads_from: window.from,
    threads_to: window.to,
  }
  const sql = threadTotalsSql(await rowsSql(clickhouse, known, params))
  const rows = await clickhouse.rows<TotalsRow>(sql, { params })
  const texts = await readTexts(clickhouse, params, rows)
  return rows.map((row) => summaryOf(row, texts))
}

async function rowsSql(
  clickhouse: ClickHouse,
  { live, kept }: KnownHours,
  params: SqlParams,
): Promise<string> {
  const keptRows = `SELECT ${THREAD_HOUR_COLUMNS.join(', ')} FROM thread_hours FINAL
    WHERE ${PROJECT} AND thread IN {threads:Array(String)} AND (hour, changes) IN (${kept})`
  if (live.length === 0) return keptRows
  const scope = inHours(live)
  const shape = await usageShape(clickhouse, scope, { params })
  const turns = `thread IN {threads:Array(String)} AND ${THREAD_TIMES}`
  return `${keptRows} UNION ALL SELECT ${THREAD_HOUR_COLUMNS.join(', ')} FROM (${threadHoursSql(scope, shape, turns)})`
}

/** The texts of the first, last and last failed roots. */
async function readTexts(
  clickhouse: ClickHouse,
  params: SqlParams,
  rows: readonly TotalsRow[],
): Promise<Map<string, TextsRow>> {
  const places = new Map<string, number>()
  for (const row of rows) {
    places.set(row.first_run_id, row.first_start)
    places.set(row.last_run_id, row.last_start)
    if (row.failed_start > 0) places.set(row.failed_run_id, row.failed_start)
  }
  if (places.size === 0) return new Map()
  const found = await clickhouse.rows<TextsRow>(
    `SELECT run_id, inputs_preview AS inputs, outputs_preview AS outputs, error FROM runs FINAL
     WHERE ${PROJECT} AND (sort_time, run_id) IN (
       SELECT fromUnixTimestamp64Micro(place.1), place.2
       FROM (SELECT arrayJoin(arrayZip({text_times:Array(Int64)}, {text_runs:Array(UUID)})) AS place))`,
    { params: { ...params, text_times: [...places.values()], text_runs: [...places.keys()] } },
  )
  return new Map(found.map((row) => [row.run_id, row]))
}

function summaryOf(row: TotalsRow, texts: ReadonlyMap<string, TextsRow>): ThreadSummary {
  return {
    thread_id: row.thread_id,
    turns: row.turns,
    errored_turns: row.errored_turns,
    first_trace_id: row.first_trace_id,
    last_trace_id: row.last_trace_id,
    first_start: row.first_start,
    last_start: row.last_start,
    last_end: row.last_end,
    first_inputs: texts.get(row.first_run_id)?.inputs ?? '',
    last_outputs: texts.get(row.last_run_id)?.outputs ?? '',
    last_error: texts.get(row.failed_run_id)?.error ?? '',
    latency: row.latency,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    prompt_cost: row.prompt_cost,
    completion_cost: row.completion_cost,
    total_cost: row.total_cost,
    unpriced_runs: row.unpriced_runs,
    prompt_token_details: row.prompt_token_details,
    completion_token_details: row.completion_token_details,
    prompt_cost_details: row.prompt_cost_details,
    completion_cost_details: row.completion_cost_details,
  }
}
