import type { ReadTrace, ReadTraceRun } from '../conformance/traces/corpus/facts.ts'
import { isWithin } from './is-within.ts'
import { FIRST_PIECE_MS, TOOL_CALL, type VendorCall } from './vendor/call.ts'

/** The properties of a client that are compared, in the order of the table's columns. */
export const COLUMNS = [
  'runs',
  'model',
  'provider',
  'tokens',
  'messages',
  'tools',
  'first token',
  'cost',
  'totals',
] as const

/** Per column: `yes`, `–` if there was nothing to compare, or the fault. */
export type Cells = Record<(typeof COLUMNS)[number], string>

/** Dollars for a million tokens of each kind: input, read from the cache, written to the cache, output. */
const PRICES: Readonly<Record<string, readonly [number, number, number, number]>> = {
  'gpt-4.1-mini': [0.4, 0.1, 0, 1.6],
  'claude-sonnet-4-5': [3, 0.3, 3.75, 15],
  'gemini-2.5-flash': [0.3, 0.03, 0, 2.5],
}
const CENTS_FAULT = 1e-12

interface Pair {
  call: VendorCall
  /** The TraceRun that counts. */
  run: ReadTraceRun
  /** All TraceRuns that show the call; `run` is the first. */
  views: readonly ReadTraceRun[]
  /** When the trace ended, ISO 8601. */
  traceEnd: string | null
}

/** Compares what was read back of a call with the call's bill. Returns the fault, or undefined when there is none. */
type Check = (pair: Pair) => string | undefined

const NOT_SENT = 'not sent'

function isSent({ views }: Pair, value: string | number): boolean {
  return isWithin(
    views.map(({ extra, inputs, outputs, events, error }) => [extra, inputs, outputs, events, error]),
    value,
  )
}

function costOf({ model, input, cache_read, cache_creation, output }: VendorCall): number | undefined {
  const price = PRICES[model]
  if (price === undefined) return undefined
  const plain = input - cache_read - cache_creation
  return (plain * price[0] + cache_read * price[1] + cache_creation * price[2] + output * price[3]) / 1e6
}

/** Tokens written to the cache: the total if it is given, otherwise the sum over the lifetimes. */
function writtenToCache(details: Record<string, number> | undefined): number {
  const of = (key: string): number => details?.[key] ?? 0
  return of('cache_creation') || of('ephemeral_5m_input_tokens') + of('ephemeral_1h_input_tokens')
}

const checkTokens: Check = (pair) => {
  const { call, run } = pair
  if (call.refused) return run.total_tokens === 0 ? undefined : `${run.total_tokens} for a refused call`
  const usage = run.llm!.usage_metadata
  const wanted = [
    ['input', call.input, usage['input_tokens']],
    ['output', call.output, usage['output_tokens']],
    ['cache read', call.cache_read, usage.input_token_details?.['cache_read'] ?? 0],
    ['cache creation', call.cache_creation, writtenToCache(usage.input_token_details)],
    ['reasoning', call.reasoning, usage.output_token_details?.['reasoning'] ?? 0],
  ] as const
  const { usage_source: source } = run.llm!
  if (source.input === 'estimate' || source.output === 'estimate')
    return isSent(pair, call.input) || isSent(pair, call.output) ? 'estimated' : `${NOT_SENT}, estimated`
  const wrong = wanted.filter(([, want, got]) => want !== got)
  const missing = wrong.filter(([, want]) => !isSent(pair, want)).map(([name]) => name)
  const other = wrong
    .filter(([name]) => !missing.includes(name))
    .map(([name, want, got]) => `${name} ${got} for ${want}`)
  if (missing.length > 0) other.push(`${missing.join(', ')} ${NOT_SENT}`)
  return wrong.length === 0 ? undefined : other.join(', ')
}

/** Input and output messages of a call; each side is from the first TraceRun that has messages on it. */
function messagesOf({ views }: Pair) {
  const best = (side: 'input' | 'output') =>
    views.map(({ llm }) => llm!.messages?.[side] ?? []).find(({ length }) => length > 0) ?? []
  return { input: best('input'), output: best('output') }
}

const checkMessages: Check = (pair) => {
  const { call } = pair
  const { input, output } = messagesOf(pair)
  if (input.length === 0) return isSent(pair, 'Hi there') ? 'no input' : NOT_SENT
  if (call.refused || call.text === undefined) return undefined
  const said = output.map(({ content }) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  )
  return said.join('') === call.text ? undefined : said.join('') === '' ? 'no output' : 'other output'
}

const checkTools: Check = (pair) => {
  const blocks = messagesOf(pair).output.flatMap(({ content }) => content)
  const calls = blocks
    .filter(({ type }) => type === 'tool_call')
    .map((block) => block as unknown as Record<string, unknown>)
  const right = calls.filter(
    ({ name, args }) => name === TOOL_CALL.name && JSON.stringify(args) === JSON.stringify(TOOL_CALL.args),
  )
  if (right.length === 1 && calls.length === 1) return undefined
  if (calls.length === 0) return isSent(pair, `${TOOL_CALL.args.city}\\"}`) ? 'no call' : NOT_SENT
  return `${calls.length} calls, ${right.length} right`
}

/** Names of attributes and events that contain the time of the first piece of a stream. */
const FIRST_PIECE = /first[_ .]?(?:token|chunk)|completion_start_time|content\.completion\.chunk/i

const checkFirstToken: Check = ({ views, traceEnd }) => {
  const run = views.find(({ llm }) => llm!.time_to_first_token_ms !== null)
  if (run === undefined)
    return FIRST_PIECE.test(JSON.stringify(views.map(({ extra }) => extra))) ? 'none' : NOT_SENT
  const first = run.llm!.time_to_first_token_ms!
  // Some clients end a call's span before its first piece arrives, so the end of the trace is used.
  const whole = Date.parse(String(traceEnd)) - Date.parse(run.start_time)
  // The vendor and the client measure time with different timers.
  return first >= FIRST_PIECE_MS - 5 && first <= whole + 1 ? undefined : 'not that of the stream'
}

/** Compares a name. For a missing name the fault also says whether the client sent it. */
function checkName(pair: Pair, want: string, got: string | null): string | undefined {
  if (got === want) return undefined
  return got === null && !isSent(pair, want) ? NOT_SENT : String(got)
}

const checkCost: Check = (pair) => {
  const { call, run } = pair
  const wanted = costOf(call)
  if (wanted === undefined) return run.total_cost === null ? undefined : `${run.total_cost} without a price`
  const got = Number(run.total_cost ?? Number.NaN)
  if (Math.abs(got - wanted) < CENTS_FAULT) return undefined
  const why = checkTokens(pair)?.includes(NOT_SENT) === true ? ', since tokens were not sent' : ''
  return `${Number(run.total_cost)} for ${Number(wanted.toFixed(9))}${why}`
}

function cell(pairs: readonly Pair[], check: Check): string {
  if (pairs.length === 0) return '–'
  const faults = new Map<string, string[]>()
  for (const pair of pairs) {
    const fault = check(pair)
    if (fault !== undefined) faults.set(fault, [...(faults.get(fault) ?? []), kindOf(pair.call)])
  }
  if (faults.size === 0) return 'yes'
  return [...faults]
    .map(([fault, kinds]) => `${kinds.length === pairs.length ? 'all' : kinds.join(', ')}: ${fault}`)
    .join('; ')
}

function kindOf({ refused, streamed, text }: VendorCall): string {
  return refused ? 'refused' : text === undefined ? 'tool' : streamed ? 'streamed' : 'plain'
}

function checkTotals(calls: readonly VendorCall[], traces: readonly ReadTrace[]): string {
  const sum = (of: (trace: ReadTrace) => unknown): number =>
    traces.reduce((all, trace) => all + Number(of(trace) ?? 0), 0)
  const bill = (of: (call: VendorCall) => number): number => calls.reduce((all, call) => all + of(call), 0)
  const wanted = [
    ['calls', calls.length, sum(({ totals }) => totals.llm_runs)],
    ['input', bill(({ input }) => input), sum(({ totals }) => totals.prompt_tokens)],
    ['output', bill(({ output }) => output), sum(({ totals }) => totals.completion_tokens)],
  ] as const
  const wrong = wanted
    .filter(([, want, got]) => want !== got)
    .map(([name, want, got]) => `${name} ${got} for ${want}`)
  const cost = bill((call) => costOf(call) ?? 0)
  const shown = sum(({ totals }) => totals.total_cost)
  if (Math.abs(cost - shown) > CENTS_FAULT)
    wrong.push(`cost ${Number(shown.toFixed(9))} for ${Number(cost.toFixed(9))}`)
  return wrong.length === 0 ? 'yes' : wrong.join(', ')
}

/** True for a TraceRun with tokens, output messages or an error. */
function hasCallData({ total_tokens, status, llm }: ReadTraceRun): boolean {
  return total_tokens > 0 || status === 'error' || (llm?.messages?.output.length ?? 0) > 0
}

/** Compares the number of runs with the number of calls. `steps` is the number of runs without data of a call. */
function checkRuns(
  calls: readonly VendorCall[],
  traces: readonly ReadTrace[],
  runs: number,
  steps: number,
): string {
  if (runs === calls.length) return 'yes'
  const found = `${runs} for ${calls.length} calls`
  if (runs - steps === calls.length) return `${found}: ${steps} ${steps === 1 ? 'is a step' : 'are steps'}`
  const unsent = calls.filter(({ model, refused }) => refused && !JSON.stringify(traces).includes(model))
  return unsent.length === calls.length - runs ? `${found}: refused ${NOT_SENT}` : found
}

function aroundOf(run: ReadTraceRun, traces: readonly ReadTrace[]): Pick<Pair, 'views' | 'traceEnd'> {
  const { runs } = traces.find(({ trace_id }) => trace_id === run.trace_id)!
  const others = runs.filter(({ same_call_as }) => same_call_as === run.id)
  return {
    views: [run, ...others],
    traceEnd: runs.find(({ id }) => id === run.trace_id)?.end_time ?? run.end_time,
  }
}

/**
 * Compares the vendor's bills with the runs that are read back. The calls must have been made one after the other,
 * because calls and runs are paired by their order.
 */
export function compare(calls: readonly VendorCall[], traces: readonly ReadTrace[]): Cells {
  const runs = traces
    .flatMap((trace) => trace.runs)
    .filter(({ run_type, same_call_as }) => run_type === 'llm' && same_call_as === null)
    .toSorted((a, b) => (a.start_time < b.start_time ? -1 : a.start_time > b.start_time ? 1 : 0))
  // Frameworks mark some steps as model calls, too. These are counted as runs, but not compared with bills.
  const reported = runs.filter(hasCallData)
  const pairs = calls.flatMap((call, i): Pair[] => {
    const run = reported[i]
    return run === undefined ? [] : [{ call, run, ...aroundOf(run, traces) }]
  })
  const answered = pairs.filter(({ call }) => !call.refused)
  const cells = {
    runs: checkRuns(calls, traces, runs.length, runs.length - reported.length),
    model: cell(pairs, (pair) => checkName(pair, pair.call.model, pair.run.llm!.model)),
    provider: cell(pairs, (pair) => checkName(pair, pair.call.provider, pair.run.llm!.provider)),
    tokens: cell(pairs, checkTokens),
    messages: cell(pairs, checkMessages),
    tools: cell(
      answered.filter(({ call }) => call.text === undefined),
      checkTools,
    ),
    'first token': cell(
      answered.filter(({ call }) => call.streamed),
      checkFirstToken,
    ),
    cost: cell(answered, checkCost),
  }
  const totals = checkTotals(calls, traces)
  const follows = totals !== 'yes' && [cells.runs, cells.tokens].some((text) => text.includes(NOT_SENT))
  return { ...cells, totals: follows ? `${totals}, since not all was sent` : totals }
}
