import type { TraceOutline, TraceRunV2 } from '../api/platform.gen.ts'

/**
 * A trace in columns: the elements at the same index of all columns belong to one run. Runs are in order of their
 * start.
 */
export interface Outline {
  trace_id: string
  version: string
  /** Number of runs of the whole trace; above `ids.length` if the trace has more runs than an outline can hold. */
  run_count: number
  is_truncated: boolean
  totals: Readonly<Record<string, unknown>>
  /** Epoch microseconds of the first start. */
  begin: number
  /** Microseconds from `begin` to the last end. */
  span: number
  ids: readonly string[]
  /** Place of the parent; negative for runs without one. */
  parents: Int32Array
  names: readonly string[]
  types: readonly string[]
  statuses: readonly string[]
  models: readonly (string | undefined)[]
  /** Microseconds from `begin`. */
  starts: Float64Array
  /** Microseconds; NaN for a run that has not ended. */
  durations: Float64Array
  /** Microseconds from the start of the run; NaN without one. */
  firstTokens: Float64Array
  /** NaN while unknown. */
  tokens: Float64Array
  /** Bits of the checks that hold (1 run type, 2 format, 4 model, 8 usage); -1 for other runs. */
  checks: Int8Array
  /** Dollars with all digits. */
  costs: readonly (string | undefined)[]
}

/** One run of an outline, with its parent by id. */
interface Row {
  id: string
  parent: string | undefined
  name: string
  type: string
  status: string
  model: string | undefined
  /** Epoch microseconds. */
  start: number
  duration: number
  firstToken: number
  tokens: number
  checks: number
  cost: string | undefined
}

/** Texts of the numbers in the column `cost`, since JavaScript's numbers would lose digits. */
function costTexts(json: string, column: readonly unknown[]): (string | undefined)[] {
  if (column.every((cost) => cost === null)) return column.map(() => undefined)
  const start = json.indexOf('"cost":[')
  if (start < 0) return []
  const inner = json.slice(start + '"cost":['.length, json.indexOf(']', start)).trim()
  if (inner === '') return []
  return inner.split(',').map((text) => (text.trim() === 'null' ? undefined : text.trim()))
}

function microsOfStart(time: string | null | undefined): number {
  if (time === null || time === undefined) return 0
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ''
  return Math.floor(Date.parse(time) / 1000) * 1e6 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

function rowsOf(answer: TraceOutline, json: string): Row[] {
  const { columns, names, run_types, statuses, models } = answer
  const begin = microsOfStart(answer.start_time)
  const costs = costTexts(json, columns.cost)
  return columns.id.map((id, at) => ({
    id,
    parent: columns.id[columns.parent[at] ?? -1],
    name: names[columns.name[at] ?? -1] ?? '',
    type: run_types[columns.run_type[at] ?? -1] ?? '',
    status: statuses[columns.status[at] ?? -1] ?? '',
    model: models[columns.model[at] ?? -1],
    start: begin + (columns.start[at] ?? 0),
    duration: columns.duration[at] ?? Number.NaN,
    firstToken: columns.first_token[at] ?? Number.NaN,
    tokens: columns.tokens[at] ?? Number.NaN,
    checks: columns.checks[at] ?? -1,
    cost: costs[at],
  }))
}

function rowsOfOutline(outline: Outline): Row[] {
  return outline.ids.map((id, at) => ({
    id,
    parent: outline.ids[outline.parents[at] ?? -1],
    name: outline.names[at] ?? '',
    type: outline.types[at] ?? '',
    status: outline.statuses[at] ?? '',
    model: outline.models[at],
    start: outline.begin + (outline.starts[at] ?? 0),
    duration: outline.durations[at] ?? Number.NaN,
    firstToken: outline.firstTokens[at] ?? Number.NaN,
    tokens: outline.tokens[at] ?? Number.NaN,
    checks: outline.checks[at] ?? -1,
    cost: outline.costs[at],
  }))
}

// Loops fill the columns of up to 200,000 numbers several times as fast as `from` with a function.
function numbersOf(column: readonly (number | null)[]): Float64Array {
  const numbers = new Float64Array(column.length)
  for (let at = 0; at < column.length; at += 1) numbers[at] = column[at] ?? Number.NaN
  return numbers
}

function bitsOf(column: readonly (number | null)[]): Int8Array {
  const bits = new Int8Array(column.length)
  for (let at = 0; at < column.length; at += 1) bits[at] = column[at] ?? -1
  return bits
}

function parentsOf(column: readonly number[]): Int32Array {
  const parents = new Int32Array(column.length)
  for (let at = 0; at < column.length; at += 1) parents[at] = Math.max(column[at] ?? -1, -1)
  return parents
}

/** The starts relative to the first start, the first start itself, and the time from it to the last end. */
function timesOf(column: readonly number[], durations: readonly (number | null)[]) {
  const starts = new Float64Array(column.length)
  let [first, last] = [column[0] ?? 0, Number.NEGATIVE_INFINITY]
  for (let at = 0; at < column.length; at += 1) {
    const start = column[at] ?? 0
    first = Math.min(first, start)
    last = Math.max(last, start + (durations[at] ?? 0))
  }
  for (let at = 0; at < column.length; at += 1) starts[at] = (column[at] ?? 0) - first
  return { starts, first, span: Math.max(1, last - first) }
}

/** Makes the columns of a complete response directly, because objects for up to 200,000 runs would take long. */
function whole(answer: TraceOutline, json: string): Outline {
  const { columns, names, run_types, statuses, models } = answer
  const begin = microsOfStart(answer.start_time)
  const durations = numbersOf(columns.duration)
  const { starts, first, span } = timesOf(columns.start, columns.duration)
  return {
    ...headOf(answer),
    totals: answer.totals ?? {},
    begin: begin + first,
    span,
    ids: columns.id,
    parents: parentsOf(columns.parent),
    names: columns.name.map((at) => names[at] ?? ''),
    types: columns.run_type.map((at) => run_types[at] ?? ''),
    statuses: columns.status.map((at) => statuses[at] ?? ''),
    models: columns.model.map((at) => models[at ?? -1]),
    starts,
    durations,
    firstTokens: numbersOf(columns.first_token),
    tokens: numbersOf(columns.tokens),
    checks: bitsOf(columns.checks),
    costs: costTexts(json, columns.cost),
  }
}

type Head = Pick<Outline, 'trace_id' | 'version' | 'run_count' | 'is_truncated'>

function headOf({ trace_id, version, run_count, is_truncated }: Head): Head {
  return { trace_id, version, run_count, is_truncated }
}

function build(rows: readonly Row[], answer: Head, totals: Outline['totals']): Outline {
  const places = new Map(rows.map(({ id }, at) => [id, at]))
  const begin = rows.reduce((least, { start }) => Math.min(least, start), rows[0]?.start ?? 0)
  const ends = rows.map(({ start, duration }) => start + (Number.isNaN(duration) ? 0 : duration))
  return {
    ...headOf(answer),
    totals,
    begin,
    span: ends.reduce((most, end) => Math.max(most, end - begin), 1),
    ids: rows.map(({ id }) => id),
    parents: Int32Array.from(rows, ({ parent }) => (parent === undefined ? -1 : (places.get(parent) ?? -2))),
    names: rows.map(({ name }) => name),
    types: rows.map(({ type }) => type),
    statuses: rows.map(({ status }) => status),
    models: rows.map(({ model }) => model),
    starts: Float64Array.from(rows, ({ start }) => start - begin),
    durations: Float64Array.from(rows, ({ duration }) => duration),
    firstTokens: Float64Array.from(rows, ({ firstToken }) => firstToken),
    tokens: Float64Array.from(rows, ({ tokens }) => tokens),
    checks: Int8Array.from(rows, ({ checks }) => checks),
    costs: rows.map(({ cost }) => cost),
  }
}

/**
 * Reads an outline from the JSON of a response. A response with changes since `known` is merged into it. Undefined when
 * runs have left the trace: the whole outline must then be requested.
 */
export function readOutline(json: string, known?: Outline): Outline | undefined {
  const answer = JSON.parse(json) as TraceOutline
  if (answer.is_whole || known === undefined) return whole(answer, json)
  const changed = rowsOf(answer, json)
  const totals = answer.totals ?? known.totals
  if (changed.length === 0 && answer.run_count === known.run_count)
    return { ...known, version: answer.version, totals }
  const rows = new Map(rowsOfOutline(known).map((row) => [row.id, row]))
  for (const row of changed) rows.set(row.id, row)
  if (rows.size !== answer.run_count && !answer.is_truncated) return undefined
  const sorted = [...rows.values()].sort((a, b) => a.start - b.start)
  return build(sorted, answer, totals)
}

/** Tokens of the whole trace; undefined while the tokens of all runs are unknown. */
export function totalTokens({ totals, tokens }: Pick<Outline, 'totals' | 'tokens'>): number | undefined {
  const { total_tokens } = totals
  if (typeof total_tokens !== 'number') return undefined
  // A sum of 0 may also mean that the tokens of all runs are unknown.
  return total_tokens > 0 || tokens.some((count) => !Number.isNaN(count)) ? total_tokens : undefined
}

/** The outline of all runs of a trace as API v2 lists them. */
export function outlineOfRuns(runs: readonly TraceRunV2[], totals: Outline['totals']): Outline {
  const rows = runs.map((run): Row => {
    const start = microsOfStart(run.start_time)
    const sinceStart = (time: string | null | undefined): number =>
      time === null || time === undefined ? Number.NaN : microsOfStart(time) - start
    return {
      id: run.id ?? '',
      parent: run.parent_run_id ?? undefined,
      name: run.name ?? '',
      type: (run.run_type ?? '').toLowerCase(),
      status: (run.status ?? '').toLowerCase(),
      model: undefined,
      start,
      duration: sinceStart(run.end_time),
      firstToken: sinceStart(run.first_token_time),
      tokens: run.total_tokens ?? Number.NaN,
      checks: -1,
      cost: run.total_cost === null || run.total_cost === undefined ? undefined : String(run.total_cost),
    }
  })
  const head = { trace_id: runs[0]?.trace_id ?? '', version: '', run_count: runs.length, is_truncated: false }
  return build(rows, head, totals)
}
