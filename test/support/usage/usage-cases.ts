import { readFileSync, readdirSync } from 'node:fs'
import { builtInProcessors } from '../../../processors/index.ts'
import type { Issue } from '../../../src/schema/issue.ts'
import { type JsonObject, type JsonValue, isObject } from '../../../src/schema/json.ts'
import { readBody } from '../../../src/trace/decode/validate-body.ts'
import { fragmentsOf, gatherTraceRuns } from '../../../src/trace/decode/gather-trace-runs.ts'
import { deriveMerged } from '../../../src/trace/derive/derive.ts'
import { rollUp } from '../../../src/trace/derive/roll-up.ts'
import { totalsJson } from '../../../src/trace/json/row-fields.ts'
import { aboutInTrace, fullPieces, joinPieces } from '../../../src/trace/json/trace-run.ts'
import { createDefaultPrices } from '../../../src/trace/price/default/default-prices.ts'
import { toRow } from '../../../src/trace/rows/trace-run-row.ts'
import { createEstimates } from '../../../src/trace/tokens/estimator.ts'
import { createTokenizer } from '../../../src/trace/tokens/tokenizer.ts'
import { requestHead } from '../traces/wire-body.ts'

/** A span of a case; `parent` is the index of another span, and `call` marks the span to compare. */
interface CaseSpan {
  name: string
  scope?: string
  kind?: number
  parent?: number
  call?: boolean
  attributes: JsonObject
}

/** What an answer says, and what must be read from it. Facts that are absent are not compared. */
export interface UsageCase {
  id: string
  about: string
  run: { run_type: string; provider?: string; model?: string }
  request?: JsonObject
  response?: JsonObject
  chunks?: JsonValue[]
  spans?: CaseSpan[]
  usage_at?: string
  siblings?: string[]
  shapes?: string[]
  expected: {
    run_type?: string
    input_tokens?: number
    output_tokens?: number
    total_tokens?: number
    input_token_details?: Record<string, number>
    output_token_details?: Record<string, number>
    /** Sides that only an estimate can give. */
    estimated?: string[]
    units?: Record<string, number>
    /** Words of which an issue must name one. */
    unread?: string[]
    /** An issue must say that this has no price, unless the cost is not `standard_cost`. */
    issue?: string
    standard_cost?: string
    /** Null: no cost. */
    total_cost?: string | null
    /** The cost also fits if an issue says what was not read or not priced. */
    or_issue?: boolean
    /** Number of calls whose tokens are those of the whole trace. */
    calls?: number
  }
}

const FOLDER = new URL('../../golden/usage-numbers/', import.meta.url)
const SHAPES = ['raw', 'usage', 'llm_output', 'generations', 'wrapped'] as const
const SAYS = /unread|not_priced|no_price/
const HOUR = 3_600_000

export function usageCases(): [vendor: string, cases: UsageCase[]][] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { vendor, cases } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as {
        vendor: string
        cases: UsageCase[]
      }
      return [vendor, cases]
    })
}

/** The shapes in which clients log the answer of a case; `span` for a case of spans. */
export function shapesOf(it: UsageCase): string[] {
  if (it.spans) return ['span']
  return (it.shapes ?? SHAPES).filter((shape) => outputsIn(it, shape) !== undefined)
}

/** The outputs of a case in one shape; undefined if the shape does not apply. */
function outputsIn(it: UsageCase, shape: string): JsonObject | undefined {
  if (it.chunks) return shape === 'raw' ? { output: it.chunks } : undefined
  const answer = it.response ?? {}
  if (shape === 'raw') return answer
  if (shape === 'wrapped') return { output: answer, usage_metadata: null }
  const usage = it.usage_at?.split('.').reduce<JsonValue | undefined>((at, key) => object(at)[key], answer)
  if (!isObject(usage)) return undefined
  const beside = Object.fromEntries(
    (it.siblings ?? []).filter((key) => answer[key] !== undefined).map((key) => [key, answer[key]!]),
  )
  const isGemini = it.usage_at === 'usageMetadata'
  if (shape === 'usage')
    return { role: 'assistant', content: 'Wide.', [isGemini ? 'usageMetadata' : 'usage']: usage, ...beside }
  if (isGemini) return undefined
  const name = usage['prompt_tokens'] === undefined ? 'usage' : 'token_usage'
  const facts = { [name]: usage, model_name: it.run.model ?? null, ...beside }
  if (shape === 'llm_output')
    return { generations: [[{ text: 'Wide.', type: 'Generation' }]], llm_output: facts, run: null }
  const kwargs = { content: 'Wide.', type: 'ai', response_metadata: facts }
  const message = { lc: 1, type: 'constructor', id: ['langchain', 'schema', 'messages', 'AIMessage'], kwargs }
  return { generations: [[{ text: 'Wide.', type: 'ChatGeneration', message }]] }
}

const object = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

const START = Date.UTC(2026, 10, 27, 10)

function nativeBody(it: UsageCase, shape: string): JsonObject {
  const id = '0af76519-16cd-43dd-8448-eb211c80319c'
  const { run_type, provider, model } = it.run
  const metadata: JsonObject = {}
  if (provider) metadata['ls_provider'] = provider
  if (model) metadata['ls_model_name'] = model
  const asked: JsonObject =
    run_type === 'embedding'
      ? { input: 'river' }
      : { messages: [{ role: 'user', content: 'How wide is the river at the old mill?' }] }
  const times = { start_time: new Date(START).toISOString(), end_time: new Date(START + 900).toISOString() }
  const run = {
    id,
    trace_id: id,
    dotted_order: `20261127T100000000000Z${id}`,
    name: it.id,
    run_type,
    ...times,
  }
  return {
    post: [{ ...run, inputs: it.request ?? asked, outputs: outputsIn(it, shape)!, extra: { metadata } }],
  }
}

function attributeValue(value: JsonValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function spansBody(spans: readonly CaseSpan[]): JsonObject {
  const id = (index: number): string => `00000000000000${String(index + 10)}`
  return {
    resourceSpans: [
      {
        resource: { attributes: [] },
        scopeSpans: spans.map(({ name, scope = 'x', kind = 1, parent, attributes }, i) => ({
          scope: { name: scope, version: '1' },
          spans: [
            {
              traceId: '0af7651916cd43dd8448eb211c80319c',
              spanId: id(i),
              ...(parent === undefined ? {} : { parentSpanId: id(parent) }),
              name,
              kind,
              startTimeUnixNano: String(BigInt(START) * 1_000_000n + BigInt(i) * 1_000_000n),
              endTimeUnixNano: String(BigInt(START + 1000) * 1_000_000n - BigInt(i) * 1_000_000n),
              attributes: Object.entries(attributes).map(([key, value]) => ({
                key,
                value: attributeValue(value!),
              })),
              status: {},
            },
          ],
        })),
      },
    ],
  }
}

/** The fields of a response that the facts are about. */
interface ReadRun {
  name: string
  run_type: string
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  total_cost: string | null
  prompt_token_details: Record<string, number>
  completion_token_details: Record<string, number>
  estimated_prompt_tokens: number
  estimated_completion_tokens: number
  usage_units?: Record<string, number>
  llm?: { usage_metadata: { units?: Record<string, number> } }
  issues: Issue[]
}

const context = {
  processors: builtInProcessors,
  startEstimate: createEstimates(createTokenizer()),
  prices: () => prices,
}
const prices = createDefaultPrices()

/** Sends a case in one shape to the code that reads traces. Returns the run to compare and the tokens of its trace. */
export function readCase(it: UsageCase, shape: string): { run: ReadRun; tokens: number } {
  const body = it.spans ? spansBody(it.spans) : nativeBody(it, shape)
  const head = requestHead({ kind: it.spans ? 'otlp-traces' : 'batch', received_at: START + HOUR })
  const { rows } = readBody(head, Buffer.from(JSON.stringify(body)))
  const { traceRuns, parentOf } = gatherTraceRuns(fragmentsOf(rows))
  const derived = [...traceRuns()].map((merged) => deriveMerged(merged, { ...context, parentOf }))
  const leanRows = derived.map(toRow)
  const sums = rollUp(leanRows)
  const runs = derived.map((traceRun, i) => {
    const about = aboutInTrace(leanRows[i]!, sums)
    return JSON.parse(
      Buffer.from(joinPieces(fullPieces(traceRun, leanRows[i]!, about, {}))).toString(),
    ) as ReadRun
  })
  const marked = it.spans?.find(({ call }) => call)?.name
  const byTokens = [...runs].sort((a, b) => b.total_tokens - a.total_tokens)
  const run = runs.find(({ name }) => name === marked) ?? byTokens[0]!
  return { run, tokens: totalsJson(sums.trace).total_tokens }
}

/** Each fact of a case that does not hold, as `name: found, expected`. */
export function usageFaults(it: UsageCase, { run, tokens }: ReturnType<typeof readCase>): string[] {
  const e = it.expected
  const faults: string[] = []
  const fact = (name: string, holds: boolean, found: unknown, wanted: unknown): void => {
    if (!holds) faults.push(`${name}: ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`)
  }
  const same = (name: string, found: unknown, wanted: unknown): void =>
    fact(name, found === wanted, found, wanted)
  const says = run.issues.some(({ code }) => SAYS.test(code))
  const codes = run.issues.map(({ code }) => code).join(' ')
  const isEstimated = (side: string): boolean =>
    (side === 'input' ? run.estimated_prompt_tokens : run.estimated_completion_tokens) > 0
  if (e.run_type) same('run_type', run.run_type, e.run_type)
  for (const [side, found] of [
    ['input', run.prompt_tokens],
    ['output', run.completion_tokens],
  ] as const) {
    const wanted = e[`${side}_tokens`]
    if (wanted === undefined) continue
    fact(
      `${side}_tokens`,
      found === wanted && !isEstimated(side),
      isEstimated(side) ? `${found}~` : found,
      wanted,
    )
  }
  if (e.input_tokens !== undefined && e.output_tokens !== undefined)
    same('total_tokens', run.total_tokens, e.total_tokens)
  for (const side of e.estimated ?? []) fact(`estimate of ${side}`, isEstimated(side), false, true)
  for (const [key, wanted] of Object.entries(e.input_token_details ?? {}))
    same(`input_token_details.${key}`, run.prompt_token_details[key] ?? 0, wanted)
  for (const [key, wanted] of Object.entries(e.output_token_details ?? {}))
    same(`output_token_details.${key}`, run.completion_token_details[key] ?? 0, wanted)
  const units = run.llm?.usage_metadata.units ?? run.usage_units ?? {}
  for (const [key, wanted] of Object.entries(e.units ?? {})) same(`units.${key}`, units[key], wanted)
  if (e.unread)
    fact(
      `issue about ${e.unread.join(' or ')}`,
      e.unread.some((word) => JSON.stringify(run.issues).includes(word)),
      codes,
      true,
    )
  const cost = run.total_cost === null ? null : Number(run.total_cost)
  const isNear = (wanted: string): boolean =>
    cost !== null && Math.abs(cost - Number(wanted)) <= Math.max(Number(wanted) * 1e-9, 1e-15)
  if (e.issue)
    fact(
      `issue about the ${e.issue}`,
      says || (e.standard_cost !== undefined && cost !== null && !isNear(e.standard_cost)),
      codes,
      e.issue,
    )
  if (e.total_cost === null) same('total_cost', cost, null)
  else if (e.total_cost !== undefined)
    fact('total_cost', isNear(e.total_cost) || (e.or_issue === true && says), run.total_cost, e.total_cost)
  if (e.calls !== undefined) same('tokens of the trace', tokens, e.calls === 0 ? 0 : e.total_tokens)
  return faults
}
