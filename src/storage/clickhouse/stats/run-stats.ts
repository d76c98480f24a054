import type {
  HeldChecks,
  TimeHistogram,
  RunFigures,
  StatsAnswer,
  StatsQuery,
  StatsStore,
} from '../../../ingest/store/stats-store.ts'
import type { ClickHouse, SqlParams } from '../connect.ts'
import { KEPT_FROM } from '../hours/known-run-hours.ts'
import { keptRows } from './kept-stats.ts'
import { PLAIN_SHAPE, type UsageShape, usageShape } from '../usage/counted-sql.ts'
import {
  amongTraces,
  CLASSES,
  countSql,
  figuresSql,
  groupsSql,
  ownSql,
  type StatsForm,
  type StatsSelection,
  selectionOf,
  tracesSql,
  usageSql,
} from './stats-sql.ts'

/**
 * Maximum number of TraceRuns for exact percentiles. Six exact percentiles of so many take 100 MB. Above this number,
 * sketches are used, which are not faster but need less memory.
 */
const EXACT_RUNS = 2_000_000
/**
 * Maximum number of traces whose ids fit into a parameter. Up to this number, rows are found by trace instead of by
 * time.
 */
const FEW_TRACES = 4_000

type Pair = [number | null, number | null] | []
/** p50, p99, p90 and p95. */
type Times = [number | null, number | null, number | null, number | null] | []
/** Numbers of TraceRuns by the index of their class in a histogram. */
type Classes = Record<string, number>
type Keys = { grp: string; bucket: number }
type FiguresRow = Keys &
  Pick<RunFigures, 'run_count' | 'last_start' | 'error_rate' | 'streaming_rate'> & {
    latency: Times
    first_token: Times
    latency_histogram?: Classes
    first_token_histogram?: Classes
    /** The counts of HeldChecks, in the order of its fields. */
    held?: number[]
  }
type EachField = 'prompt_tokens_each' | 'completion_tokens_each' | 'total_tokens_each' | 'total_cost_each'
type UsageField =
  | `${'prompt' | 'completion'}_tokens`
  | `${'prompt' | 'completion' | 'total'}_cost`
  | 'unpriced_runs'
  | `${'prompt' | 'completion'}_${'token' | 'cost'}_details`
type UsageRow = Keys &
  Pick<RunFigures, UsageField> &
  Record<EachField, Pair> & {
    streaming_rate?: number | null
    first_token?: Times
    first_token_histogram?: Classes
  }

/** Figures of TraceRuns, computed in ClickHouse. */
export function readingStats(clickhouse: ClickHouse) {
  return {
    runStats: (workspace_id: string, query: StatsQuery) => readStats(clickhouse, workspace_id, query),
  } satisfies Partial<StatsStore>
}

/**
 * Tokens and costs count each call once (rule N6, D-17). The query determines whose usage is added up. For roots: that
 * of the whole traces. For groups (their figures must add up), for types that have usage themselves (llm, embedding),
 * and for all TraceRuns: that of the TraceRuns alone. Otherwise: that of the TraceRuns and their descendants.
 */
async function readStats(
  clickhouse: ClickHouse,
  workspace_id: string,
  query: StatsQuery,
): Promise<StatsAnswer> {
  const kept = await keptStats(clickhouse, workspace_id, query)
  if (kept !== undefined) return kept
  const all = selectionOf(query)
  const paramsOf = ({ params }: StatsSelection) => ({ ...params, workspace_id })
  const { group_by: group, interval, histograms = false } = query
  if (all.link === 'own' && group === undefined)
    return await readWhileCounting(clickhouse, { selection: all, group, interval, histograms }, paramsOf(all))
  const [found, groups] = await Promise.all([
    countRuns(clickhouse, all, paramsOf(all)),
    group && clickhouse.rows<{ grp: string }>(groupsSql(all, group), { params: paramsOf(all) }),
  ])
  const is_exact = found <= EXACT_RUNS
  const names = groups?.map(({ grp }) => grp)
  if (found === 0 || names?.length === 0) return noStats({ group, interval, is_exact })
  const near = await narrowed(clickhouse, workspace_id, all, found)
  const selection = names ? { ...near, params: { ...near.params, groups: names } } : near
  const form = { selection, group, interval, histograms, is_exact }
  return statsOf(form, await readRows(clickhouse, form, paramsOf(selection)), names)
}

/** Figures from kept figures of hours (ADR 0098); undefined as keptRows. */
export async function keptStats(
  clickhouse: ClickHouse,
  workspace_id: string,
  query: StatsQuery,
  least = KEPT_FROM,
): Promise<StatsAnswer | undefined> {
  const kept = await keptRows<FiguresRow & UsageRow>(clickhouse, workspace_id, query, least)
  if (kept === undefined) return undefined
  const form = { group: query.group_by, interval: query.interval, is_exact: false }
  return statsOf(form, [kept.rows, kept.rows], kept.names)
}

/**
 * Computes exact figures and counts the TraceRuns at the same time; stops if there are too many TraceRuns for exact
 * figures.
 */
async function readWhileCounting(
  clickhouse: ClickHouse,
  form: Omit<StatsForm, 'shape' | 'is_exact'>,
  params: SqlParams,
): Promise<StatsAnswer> {
  const stopping = new AbortController()
  const exact = readRows(clickhouse, { ...form, is_exact: true }, params, stopping.signal)
  // The result is awaited only if the TraceRuns are few enough.
  exact.catch(() => undefined)
  try {
    const is_exact = (await countRuns(clickhouse, form.selection, params)) <= EXACT_RUNS
    if (!is_exact) stopping.abort()
    const rows = is_exact ? exact : readRows(clickhouse, { ...form, is_exact }, params)
    return statsOf({ ...form, is_exact }, await rows)
  } finally {
    stopping.abort()
  }
}

async function countRuns(
  clickhouse: ClickHouse,
  selection: StatsSelection,
  params: SqlParams,
): Promise<number> {
  const [counted] = await clickhouse.rows<{ found: number }>(countSql(selection), { params })
  return counted?.found ?? 0
}

/**
 * Computes the figures for the plain, usual shape of usage (`UsageShape`), and determines the actual shape at the same
 * time. If the actual shape is another one, computes the figures again.
 */
async function readRows(
  clickhouse: ClickHouse,
  form: Omit<StatsForm, 'shape'>,
  params: SqlParams,
  signal?: AbortSignal,
): Promise<[FiguresRow[], UsageRow[]]> {
  const asked = { params, ...(signal && { signal }) }
  const shapeOfAll = usageShape(clickhouse, form.selection.scope, asked)
  const inShape = async <R>(of: (shape: UsageShape) => Promise<R>): Promise<R> => {
    const [plain, shape] = await Promise.all([of(PLAIN_SHAPE), shapeOfAll])
    return shape.doubles || shape.nested ? of(shape) : plain
  }
  if (form.selection.link === 'own') {
    const rows = await inShape((shape) =>
      clickhouse.rows<FiguresRow & UsageRow>(ownSql({ ...form, shape }), asked),
    )
    return [rows, rows]
  }
  return Promise.all([
    clickhouse.rows<FiguresRow>(figuresSql(form), asked),
    inShape((shape) => clickhouse.rows<UsageRow>(usageSql({ ...form, shape }), asked)),
  ])
}

/** For few TraceRuns, returns a selection whose usage is read only from their traces, without limits of time. */
async function narrowed(
  clickhouse: ClickHouse,
  workspace_id: string,
  selection: StatsSelection,
  found: number,
): Promise<StatsSelection> {
  if (selection.link === 'own' || found > FEW_TRACES) return selection
  const traces = await clickhouse.rows<{ trace_id: string }>(tracesSql(selection, FEW_TRACES + 1), {
    params: { ...selection.params, workspace_id },
  })
  if (traces.length > FEW_TRACES) return selection
  return amongTraces(
    selection,
    traces.map(({ trace_id }) => trace_id),
  )
}

type AnswerForm = Pick<StatsForm, 'group' | 'interval' | 'is_exact'>

/**
 * The figures of a response. There may be no rows, because the counted TraceRuns may have been deleted in the meantime.
 */
function statsOf(
  form: AnswerForm,
  [figures, usage]: [FiguresRow[], UsageRow[]],
  groups?: readonly string[],
): StatsAnswer {
  if (figures.length === 0) return noStats(form)
  return { is_exact: form.is_exact, figures: joined(figures, usage, groups, form.interval !== undefined) }
}

/** The response when there are no TraceRuns. */
function noStats({ group, interval, is_exact }: AnswerForm): StatsAnswer {
  return { is_exact, figures: group === undefined && interval === undefined ? [noFigures()] : [] }
}

function joined(
  figures: readonly FiguresRow[],
  usage: readonly UsageRow[],
  groups: readonly string[] | undefined,
  isBucketed: boolean,
): RunFigures[] {
  const usages = new Map(usage.map((row) => [keyOf(row), row]))
  const places = new Map(groups?.map((name, place) => [name, place]))
  return figures
    .toSorted((a, b) => a.bucket - b.bucket || (places.get(a.grp) ?? 0) - (places.get(b.grp) ?? 0))
    .map((row) => {
      const of = usages.get(keyOf(row))
      const { grp, bucket, latency, first_token, latency_histogram, first_token_histogram, held, ...counts } =
        row
      const first = of?.first_token ?? first_token
      return {
        ...noFigures(),
        ...counts,
        ...(of && usageOf(of)),
        group: groups === undefined ? null : grp,
        bucket: isBucketed ? bucket : null,
        streaming_rate: of?.streaming_rate === undefined ? row.streaming_rate : of.streaming_rate,
        latency: known(latency),
        first_token: known(first),
        latency_p90: latency[2] ?? null,
        first_token_p90: first[2] ?? null,
        latency_p95: latency[3] ?? null,
        first_token_p95: first[3] ?? null,
        latency_histogram: histogramOf(latency_histogram),
        first_token_histogram: histogramOf(of?.first_token_histogram ?? first_token_histogram),
        checks: checksOf(held),
      }
    })
}

function usageOf(row: UsageRow): Pick<RunFigures, UsageField | EachField> {
  return {
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
    prompt_tokens_each: known(row.prompt_tokens_each),
    completion_tokens_each: known(row.completion_tokens_each),
    total_tokens_each: known(row.total_tokens_each),
    total_cost_each: known(row.total_cost_each),
  }
}

const keyOf = ({ grp, bucket }: Keys): string => `${bucket} ${grp}`
const known = ([median, high]: Pair | Times): [number | null, number | null] => [median ?? null, high ?? null]

function histogramOf(classes: Classes | undefined): TimeHistogram | undefined {
  return (
    classes && new Map(Object.entries(classes).map(([place, count]) => [CLASSES[Number(place)] ?? 0, count]))
  )
}

function checksOf([
  llm_runs = 0,
  all = 0,
  run_type = 0,
  format = 0,
  model = 0,
  usage = 0,
]: number[] = []): HeldChecks {
  return { llm_runs, all, run_type, format, model, usage }
}

function noFigures(): RunFigures {
  return {
    group: null,
    bucket: null,
    run_count: 0,
    last_start: null,
    error_rate: null,
    streaming_rate: null,
    latency: [null, null],
    first_token: [null, null],
    latency_p90: null,
    first_token_p90: null,
    latency_p95: null,
    first_token_p95: null,
    latency_histogram: undefined,
    first_token_histogram: undefined,
    checks: checksOf(),
    prompt_tokens: 0,
    completion_tokens: 0,
    prompt_cost: null,
    completion_cost: null,
    total_cost: null,
    unpriced_runs: 0,
    prompt_tokens_each: [null, null],
    completion_tokens_each: [null, null],
    total_tokens_each: [null, null],
    total_cost_each: [null, null],
    prompt_token_details: {},
    completion_token_details: {},
    prompt_cost_details: {},
    completion_cost_details: {},
  }
}
