import type { Message, SchemaTypes } from '../../../../src/schema/types.gen.ts'

/** A TraceRun as returned by GET /runs/{id} and GET /traces/{id}. */
export interface ReadTraceRun {
  id: string
  trace_id: string
  parent_run_id: string | null
  session_id: string
  dotted_order: string
  name: string
  run_type: string
  status: string
  start_time: string
  end_time: string | null
  first_token_time: string | null
  received_at: string
  inputs: Record<string, unknown>
  outputs: Record<string, unknown> | null
  error: string | null
  extra: { metadata: Record<string, unknown>; [key: string]: unknown }
  tags: string[]
  events: { name: string; time?: string }[]
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  thread_id: string | null
  same_call_as: string | null
  attachments: Record<string, { mime_type: string; size: number; url: string }>
  /** Only in llm and embedding TraceRuns. */
  llm?: ReadLlm
}

/** The derived facts of an llm or embedding TraceRun. */
export interface ReadLlm {
  provider: string | null
  model: string | null
  messages?: { input: Message[]; output: Message[] }
  usage_metadata: Record<string, number | null> & Record<Details, Record<string, number>>
  usage_source: { input: Source; output: Source }
  time_to_first_token_ms: number | null
  checks: Record<'run_type' | 'format' | 'model' | 'usage', { ok: boolean; reason?: string }>
  issues: { code: string; path?: string }[]
}

type Source = 'client' | 'vendor' | 'estimate' | null
type Details = 'input_token_details' | 'output_token_details'

/**
 * The expected facts about one TraceRun of a case (`expected.json`). Facts that are absent or null are not compared.
 */
export interface ExpectedFacts {
  name?: string
  run_type?: string
  status?: string
  provider?: string
  model?: string
  in?: number | null
  out?: number | null
  total?: number | null
  in_details?: Record<string, number>
  out_details?: Record<string, number>
  src?: 'client' | 'vendor' | 'estimate'
  /** Token counts with the encoding o200k; an estimate must equal them. */
  o200k?: { out?: number }
  /** Bounds of the time to the first token in milliseconds; null if there must be none. */
  ttft?: null | [number, number]
  roles?: string[]
  /** A text that the output messages must contain. */
  text?: string
  tools?: { id?: string; name: string; args?: Record<string, unknown> }[]
  costs?: { input?: number; output?: number; total?: number }
  error?: string
  tags?: string[]
  thread_id?: string
  metadata?: Record<string, unknown>
  /** Media type by name. */
  attachments?: Record<string, string>
  /** Number of documents in the outputs. */
  documents?: number
  /** Number of TraceRuns below this one. */
  children?: number
  feedback?: { key: string; score: number }
  trace_totals?: { in: number; out: number; total: number }
  /** Model calls in the whole trace. */
  llm_runs?: number
  /** Name of the TraceRun that shows the same call in more detail; null if there is none. */
  same_call_as?: string | null
}

export interface ReadTrace {
  trace_id: string
  root: ReadTraceRun | null
  runs: ReadTraceRun[]
  totals: SchemaTypes['trace-read']['totals']
}

/** [name, actual value, expected value] of one fact. */
type Claim = [what: string, got: unknown, want: unknown]

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
const isNear = (got: unknown, want: number): boolean =>
  got !== null && got !== undefined && Math.abs(Number(got) - want) <= Math.abs(want) * 1e-6

function plainClaims(facts: ExpectedFacts, traceRun: ReadTraceRun): Claim[] {
  const usage = traceRun.llm?.usage_metadata
  return [
    ['name', traceRun.name, facts.name],
    ['run_type', traceRun.run_type, facts.run_type],
    ['status', traceRun.status, facts.status],
    ['thread_id', traceRun.thread_id, facts.thread_id],
    ['provider', traceRun.llm?.provider, facts.provider],
    ['model', traceRun.llm?.model, facts.model],
    ['input_tokens', usage?.['input_tokens'], facts.in],
    ['output_tokens', usage?.['output_tokens'], facts.out],
    ['total_tokens', usage?.['total_tokens'], facts.total],
    ['output_tokens (o200k)', usage?.['output_tokens'], facts.o200k?.out],
    ['input roles', traceRun.llm?.messages?.input.map(({ role }) => role), facts.roles],
  ]
}

function keyedClaims(facts: ExpectedFacts, traceRun: ReadTraceRun): Claim[] {
  const of = (what: string, got: object | null | undefined, want: object | undefined): Claim[] =>
    Object.entries(want ?? {}).map(([key, value]) => [
      `${what}.${key}`,
      (got as Record<string, unknown> | undefined)?.[key],
      value,
    ])
  const usage = traceRun.llm?.usage_metadata
  const types = Object.entries(traceRun.attachments).map(([name, { mime_type }]) => [name, mime_type])
  return [
    ...of('in', respelt(usage?.input_token_details), facts.in_details),
    ...of('out', usage?.output_token_details, facts.out_details),
    ...of('metadata', traceRun.extra.metadata, facts.metadata),
    ...of('attachments', Object.fromEntries(types), facts.attachments),
  ]
}

/** The spelling of the JavaScript SDK and that of the other SDKs. Either may be returned. */
function respelt(details: Record<string, number> | undefined): Record<string, number> {
  const hour = details?.['ephemeral_1h_input_tokens'] ?? details?.['ephemeral_1hr_input_tokens']
  return { ...details, ...(hour !== undefined && { ephemeral_1hr_input_tokens: hour }) }
}

function sourceFault({ src }: ExpectedFacts, { llm }: ReadTraceRun): string | undefined {
  if (src === undefined) return undefined
  const found = [llm?.usage_source.input ?? null, llm?.usage_source.output ?? null]
  const fits =
    src === 'estimate'
      ? found.includes('estimate')
      : !found.includes('estimate') && !same(found, [null, null])
  return fits ? undefined : `usage_source ${JSON.stringify(found)}, expected ${src}`
}

function firstTokenFault({ ttft }: ExpectedFacts, { llm }: ReadTraceRun): string | undefined {
  if (ttft === undefined) return undefined
  const found = llm?.time_to_first_token_ms ?? null
  if (ttft === null) return found === null ? undefined : `time to first token ${found}, expected none`
  return found !== null && found >= ttft[0] - 1 && found <= ttft[1] + 1
    ? undefined
    : `time to first token ${found}, expected ${ttft.join(' to ')}`
}

function outputFaults(
  { text, tools = [], documents, run_type }: ExpectedFacts,
  traceRun: ReadTraceRun,
): string[] {
  const output = traceRun.llm?.messages?.output ?? []
  const blocks = output.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const faults: string[] = []
  if (
    text !== undefined &&
    run_type === 'llm' &&
    !JSON.stringify(blocks).includes(JSON.stringify(text).slice(1, -1))
  ) {
    faults.push(`no output text "${text}"`)
  }
  for (const { id, name, args } of tools) {
    const found = blocks.some(
      (block) =>
        block.type === 'tool_call' &&
        block.name === name &&
        (id === undefined || block.id === id) &&
        (args === undefined || same(block.args, args)),
    )
    if (!found) faults.push(`no call of tool ${name}`)
  }
  if (documents !== undefined) {
    const found = Object.values(traceRun.outputs ?? {}).find((value) => Array.isArray(value))?.length
    if (found !== documents) faults.push(`${found} documents, expected ${documents}`)
  }
  return faults
}

function otherFaults(facts: ExpectedFacts, traceRun: ReadTraceRun, trace: ReadTrace): string[] {
  const faults: string[] = []
  const usage = traceRun.llm?.usage_metadata
  const costs = {
    input: usage?.['input_cost'] ?? traceRun.prompt_cost,
    output: usage?.['output_cost'] ?? traceRun.completion_cost,
    total: usage?.['total_cost'] ?? traceRun.total_cost,
  }
  for (const kind of ['input', 'output', 'total'] as const) {
    const want = facts.costs?.[kind]
    if (want !== undefined && !isNear(costs[kind], want))
      faults.push(`${kind} cost ${costs[kind]}, expected ${want}`)
  }
  for (const tag of facts.tags ?? []) if (!traceRun.tags.includes(tag)) faults.push(`no tag ${tag}`)
  if (facts.error !== undefined && !traceRun.error?.includes(facts.error))
    faults.push(`error ${traceRun.error}`)
  if (facts.children !== undefined) {
    const below = trace.runs.filter(({ parent_run_id }) => parent_run_id === traceRun.id).length
    if (below !== facts.children) faults.push(`${below} children, expected ${facts.children}`)
  }
  if (facts.trace_totals !== undefined) {
    const { prompt_tokens, completion_tokens, total_tokens } = trace.totals
    const found = { in: prompt_tokens, out: completion_tokens, total: total_tokens }
    if (!same(found, facts.trace_totals)) faults.push(`trace totals ${JSON.stringify(found)}`)
  }
  if (facts.llm_runs !== undefined && trace.totals?.llm_runs !== facts.llm_runs)
    faults.push(`${trace.totals?.llm_runs} calls, expected ${facts.llm_runs}`)
  if (facts.same_call_as !== undefined) {
    const same_as = trace.runs.find(({ id }) => id === traceRun.same_call_as)?.name ?? null
    if (same_as !== facts.same_call_as) faults.push(`same call as ${same_as}`)
  }
  return faults
}

/** Differences between a TraceRun and the expected facts; empty when all facts are equal. */
export function factFaults(facts: ExpectedFacts, traceRun: ReadTraceRun, trace: ReadTrace): string[] {
  const claims = [...plainClaims(facts, traceRun), ...keyedClaims(facts, traceRun)]
  const wrong = claims
    .filter(([, got, want]) => want !== undefined && want !== null && !same(got, want))
    .map(([what, got, want]) => `${what} ${JSON.stringify(got)}, expected ${JSON.stringify(want)}`)
  const single = [sourceFault(facts, traceRun), firstTokenFault(facts, traceRun)].filter(
    (fault) => fault !== undefined,
  )
  return [...wrong, ...single, ...outputFaults(facts, traceRun), ...otherFaults(facts, traceRun, trace)]
}

/**
 * Every expected TraceRun that matches none in these traces, with the differences from the closest one. Each TraceRun
 * matches at most one expected TraceRun.
 */
export function caseFaults(expected: readonly ExpectedFacts[], traces: readonly ReadTrace[]): string[] {
  const left = new Set(traces.flatMap((trace) => trace.runs.map((traceRun) => ({ trace, traceRun }))))
  const missing: string[] = []
  for (const facts of expected) {
    const tried = [...left].map((entry) => ({
      entry,
      faults: factFaults(facts, entry.traceRun, entry.trace),
    }))
    const fits = tried.find(({ faults }) => faults.length === 0)
    if (fits !== undefined) {
      left.delete(fits.entry)
      continue
    }
    const nearest = tried.sort((a, b) => a.faults.length - b.faults.length)[0]?.faults ?? [
      'no TraceRun at all',
    ]
    missing.push(`${facts.run_type} ${facts.name ?? ''}: ${nearest.join('; ')}`)
  }
  return missing
}
