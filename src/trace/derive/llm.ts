import type { Issue } from '../../schema/issue.ts'
import { type JsonValue, isObject, text, word } from '../../schema/json.ts'
import type { Message } from '../../schema/types.gen.ts'
import { plainText, unwrappedValue, type ChosenFormat, chooseFormat, unwrap } from './choose.ts'
import type { LlmFacts, TraceRun } from './trace-run.ts'
import { hasNewToken } from './first-token.ts'
import { usageMetadataOf } from './merge.ts'
import { message, textBlock } from '../messages/messages.ts'
import { billsThoughts, findModel, providerInPath, withoutProvider } from '../price/model-name.ts'
import { isFramework, normalizeProvider } from '../price/provider-name.ts'
import type { MappedSide } from '../otel/map/side-source.ts'
import type { PriceSource } from '../price/price.ts'
import type { Hints, Processor, Side } from '../messages/processor.ts'
import { parseLooseJson } from '../json/loose-json.ts'
import { isEmptyAnswer, isRefusal } from './refused-call.ts'
import { requestedConditions, tierInConditions } from '../price/conditions.ts'
import { addTier, serviceTierOf } from '../price/service-tier.ts'
import { reportedUsage, type UsageHints } from '../tokens/usage/usage.ts'
import { judge } from './verdicts.ts'

/** One side of a TraceRun, as input of an estimate. */
export interface Countable {
  messages: readonly Message[]
  /** The side without wrappers; counted as text if no processor recognised it. */
  raw: JsonValue | undefined
  recognised: boolean
  tools: JsonValue | undefined
  model: string | undefined
  provider: string | undefined
}

export interface TokenEstimate {
  tokens: number
  /** E.g. `o200k_base`; shown in the reason of the usage verdict. */
  encoding: string
  /** Whether the text was too large to count, so that a sample was counted and scaled. */
  sampled: boolean
}

/** Counts tokens of one TraceRun for which no counts were reported; both sides share one limit on the work. */
export interface Estimator {
  input(side: Countable): TokenEstimate
  output(side: Countable): TokenEstimate
}

export interface LlmContext {
  processors: readonly Processor[]
  /** Creates the estimator of one TraceRun. In reads, the estimator returns the stored estimate. */
  startEstimate: () => Estimator
  /** Prices by workspace. Absent: costs are as sent. */
  prices?: (workspace_id: string) => PriceSource
}

/** Completes `traceRun` with formats, model, usage and verdicts. `inputs` and `outputs` are the parsed sides. */
export function deriveLlm(
  traceRun: TraceRun,
  inputs: JsonValue | undefined,
  outputs: JsonValue | undefined,
  context: LlmContext,
): void {
  const { metadata, issues } = traceRun
  const rawInputs = inputs === undefined ? undefined : unwrap('inputs', inputs)
  const early = findModel(metadata, withModel(rawInputs), traceRun.merged.extra, undefined, undefined)
  const named = word(metadata['ls_provider'])
  const sentProvider = named === undefined || isFramework(named) ? undefined : named
  const hints: Hints = {
    run_type: traceRun.run_type,
    provider: sentProvider,
    model: early?.model,
    metadata,
    inputs_format: undefined,
  }
  const { mapped } = traceRun
  const input = choose('inputs', inputs, withDialect(hints, mapped?.inputs), context.processors, issues)
  hints.inputs_format = input?.format
  const output = choose('outputs', outputs, withDialect(hints, mapped?.outputs), context.processors, issues)
  const answered = output?.value ?? outputs
  const found =
    early ?? findModel(metadata, undefined, traceRun.merged.extra, answered, output?.model ?? input?.model)
  const sentOrFound = sentProvider ?? output?.provider ?? input?.provider ?? providerInPath(found?.path)
  const provider = sentOrFound === undefined ? undefined : normalizeProvider(sentOrFound)
  const llm: LlmFacts = {
    provider,
    model: found && withoutProvider(found.model, provider),
    answered_model: undefined,
    model_source: found?.source,
    part: 'call',
    response_id: mapped?.response_id ?? answerId(output),
    input_format: input?.format,
    output_format: output?.format,
    input_messages: input?.messages ?? [],
    output_messages: output?.messages ?? plainAnswer(outputs, issues),
    checks: { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: true } },
  }
  traceRun.llm = llm
  traceRun.usage = reportedUsage(
    outputs,
    usageMetadataOf(traceRun.merged),
    issues,
    usageHints(traceRun, llm, output),
    mapped?.usage,
  )
  const requests = requestsOf(traceRun, rawInputs)
  traceRun.usage.conditions = { ...requestedConditions(requests), ...traceRun.usage.conditions }
  const isEmpty = traceRun.status === 'error' && isEmptyAnswer(outputs, output, llm.output_messages)
  const sides = { inputs, outputs: isEmpty ? undefined : outputs, input, output }
  llm.part = partOf(traceRun, sides)
  const encoding = estimateMissing(traceRun, llm, sides, context.startEstimate)
  llm.answered_model = answeredModel(llm.model, mapped?.answered_model, answered, output?.model)
  addTier(traceRun.usage, tierOf(traceRun, serviceTierOf(outputs, requests)))
  const isRefused = isRefusedCall(traceRun, sides)
  llm.checks = judge(traceRun, llm, { inputs, outputs: sides.outputs, encoding, isRefused })
}

function usageHints(
  { run_type }: TraceRun,
  { provider, model }: LlmFacts,
  output: ChosenFormat | undefined,
): UsageHints {
  return { run_type, provider, model, billsGap: billsThoughts(provider, model), ofFormat: output?.usage }
}

/** The model that the answer names, if it has another name than the requested one. */
function answeredModel(
  model: string | undefined,
  ofSpan: string | undefined,
  answer: JsonValue | undefined,
  ofFormat: string | undefined,
): string | undefined {
  const named = ofSpan ?? findModel({}, undefined, {}, answer, ofFormat)?.model
  return named === undefined || named === model ? undefined : named
}

/** The service tier of the call: as its usage says, its span, or the request. Adds it to the conditions. */
function tierOf({ usage, mapped }: TraceRun, elsewhere: string | undefined): string | undefined {
  const tier = tierInConditions(usage.conditions) ?? mapped?.service_tier ?? elsewhere
  if (tier !== undefined && tier !== 'standard') usage.conditions['service_tier'] ??= tier
  return tier
}

/** Formats of vendors' own answers, and the path of the id in each. */
const ANSWER_IDS: Readonly<Record<string, string>> = {
  'openai-chat': 'id',
  'openai-responses': 'id',
  'openai-completions': 'id',
  'anthropic-messages': 'id',
  gemini: 'responseId',
}

function answerId(output: ChosenFormat | undefined): string | undefined {
  const place = output === undefined ? undefined : ANSWER_IDS[output.format]
  return place !== undefined && isObject(output?.value) ? text(output.value[place]) : undefined
}

/** Converts outputs that consist only of text to an assistant message; empty for other outputs. */
function plainAnswer(outputs: JsonValue | undefined, issues: Issue[]): Message[] {
  const text = plainText(outputs)
  const isJson = !issues.some(({ code, path }) => code === 'side_not_json' && path === 'outputs')
  return text === undefined || !isJson ? [] : [message('assistant', [textBlock(text)])]
}

/** The outermost value that names a model; undefined if none does. */
function withModel(candidates: { value: JsonValue }[] | undefined): JsonValue | undefined {
  const named = candidates?.find(
    ({ value }) => isObject(value) && (text(value['model']) ?? text(value['model_name'])) !== undefined,
  )
  return named?.value
}

/** Returns the hints, with the telemetry from which a span's side was built. */
function withDialect(hints: Hints, side: MappedSide | undefined): Hints {
  return side?.dialect === undefined ? hints : { ...hints, dialect: side.dialect }
}

function choose(
  side: Side,
  value: JsonValue | undefined,
  hints: Hints,
  processors: readonly Processor[],
  issues: Issue[],
): ChosenFormat | undefined {
  if (value === undefined) return undefined
  const chosen = chooseFormat(side, value, hints, processors, issues)
  if (chosen) issues.push(...chosen.issues)
  return chosen
}

/** Fields in which vendors and frameworks send what is embedded, besides `input`. */
const EMBEDDED = [
  'texts',
  'text',
  'documents',
  'document',
  'query',
  'values',
  'value',
  'contents',
  'content',
  'instances',
  'inputText',
  'prompt',
] as const

/** The part of the inputs that an embedding model reads: the text or texts, if they can be identified. */
function embeddedText(inputs: JsonValue): JsonValue {
  const whole = unwrap('inputs', inputs).at(-1)!.value
  const found = isObject(whole) ? EMBEDDED.find((name) => whole[name] !== undefined) : undefined
  const value = isObject(whole) && found !== undefined ? whole[found]! : whole
  if (!Array.isArray(value)) return value
  const texts = value.map((item) => (isObject(item) ? (item['text'] ?? item['content']) : item))
  return texts.every((item) => typeof item === 'string') ? texts.join('\n') : value
}

interface Sides {
  inputs: JsonValue | undefined
  /** Undefined if there are no outputs, or if the call failed and its outputs are empty. */
  outputs: JsonValue | undefined
  input: ChosenFormat | undefined
  output: ChosenFormat | undefined
}

/**
 * Estimates the count of each side without a reported count. Does nothing while the TraceRun is pending and has no
 * outputs, because counts may still arrive. Returns the encoding that was used.
 */
function estimateMissing(
  traceRun: TraceRun,
  llm: LlmFacts,
  sides: Sides,
  startEstimate: () => Estimator,
): string | undefined {
  const { usage, issues } = traceRun
  if (traceRun.status === 'pending' && sides.outputs === undefined) return undefined
  if (isUncounted(traceRun, sides)) return undefined
  // If a successful call has no outputs, the sender hides them, and the number of their tokens is unknown.
  const isSilent = sides.outputs === undefined && traceRun.status !== 'error'
  const needsOutput = usage.source.output === null && traceRun.run_type === 'llm' && !isSilent
  if (usage.source.input !== null && !needsOutput) return undefined
  const isEmbedding = traceRun.run_type === 'embedding'
  const estimator = startEstimate()
  const names = {
    model: llm.model,
    provider: llm.provider,
    tools: sides.input?.tools ?? paramsTools(traceRun),
  }
  let encoding: string | undefined
  if (usage.source.input === null && sides.inputs !== undefined && !isOnlySystem(traceRun, llm)) {
    const estimate = estimator.input({
      ...names,
      messages: llm.input_messages,
      raw: isEmbedding
        ? embeddedText(sides.inputs)
        : (sides.input?.value ?? unwrappedValue('inputs', sides.inputs)),
      // An embedding model reads no messages, even if its request looks like that of a chat.
      recognised: sides.input !== undefined && !isEmbedding,
    })
    usage.input_tokens = estimate.tokens
    usage.source.input = 'estimate'
    encoding = estimate.encoding
    if (estimate.sampled) issues.push(sampled('inputs'))
  }
  if (needsOutput) {
    usage.source.output = 'estimate'
    usage.output_tokens = 0
    if (sides.outputs !== undefined) {
      const estimate = estimator.output({
        ...names,
        messages: llm.output_messages,
        raw: sides.output?.value ?? unwrappedValue('outputs', sides.outputs),
        recognised: sides.output !== undefined,
      })
      usage.output_tokens = estimate.tokens
      encoding = estimate.encoding
      if (estimate.sampled) issues.push(sampled('outputs'))
    }
  }
  return encoding
}

/** Whether a span has system instructions but no other message, which means that the prompt was not captured. */
function isOnlySystem({ mapped }: TraceRun, { input_messages }: LlmFacts): boolean {
  return (
    mapped !== undefined && input_messages.length > 0 && input_messages.every(({ role }) => role === 'system')
  )
}

/**
 * Whether a span shows a call, a request whose answer is a separate span, or only a step of a framework. A successful
 * span without counts is a step if it has inputs or outputs, but neither in a known message format. Frameworks mark
 * such steps as model calls too.
 */
function partOf({ status, mapped, usage }: TraceRun, sides: Sides): LlmFacts['part'] {
  if (usage.source.input !== null || usage.source.output !== null || mapped?.run_type !== 'llm') return 'call'
  if (mapped.is_answered_elsewhere) return 'request'
  const isSilent = sides.inputs === undefined && sides.outputs === undefined
  const hasFormat = isSilent || sides.input !== undefined || sides.output !== undefined
  return status === 'error' || hasFormat ? 'call' : 'step'
}

/**
 * Whether a TraceRun has no billed tokens: a call that the vendor refused before its first token, a call without
 * messages, or a step.
 */
function isUncounted(traceRun: TraceRun, sides: Sides): boolean {
  const { status, mapped, usage, llm } = traceRun
  if (llm !== undefined && llm.part !== 'call') return true
  if (usage.source.input !== null || usage.source.output !== null) return false
  if (status === 'error' && sides.outputs === undefined) return isRefusedCall(traceRun, sides)
  return mapped?.run_type === 'llm' && sides.input === undefined && sides.output === undefined
}

/** Whether the vendor refused the call before its first token, so that it counted nothing. */
function isRefusedCall({ status, error, merged, mapped, usage }: TraceRun, { outputs }: Sides): boolean {
  const hasCounts = usage.source.input !== null || usage.source.output !== null
  if (hasCounts || status !== 'error' || outputs !== undefined) return false
  return (mapped?.refused ?? isRefusal(error)) && !hasBegun(merged)
}

/** Whether events show that the vendor's answer had begun. */
function hasBegun({ raw: { events } }: TraceRun['merged']): boolean {
  return events !== undefined && hasNewToken(parseLooseJson(events).value)
}

/**
 * The parameters of a call, from its unwrapped inputs and from the fields of metadata that clients fill. The user's own
 * metadata is not read.
 */
function requestsOf(
  { merged: { extra }, metadata }: TraceRun,
  inputs: { value: JsonValue }[] | undefined,
): (JsonValue | undefined)[] {
  return [
    ...(inputs ?? []).map(({ value }) => value),
    extra['invocation_params'],
    metadata['ls_invocation_params'],
  ]
}

/** Tools in the invocation parameters, where LangChain sends them instead of in the inputs. */
function paramsTools(traceRun: TraceRun): JsonValue | undefined {
  const params = traceRun.merged.extra['invocation_params']
  return isObject(params) ? params['tools'] : undefined
}

function sampled(side: Side): Issue {
  return {
    code: 'estimate_sampled',
    severity: 'info',
    path: side,
    message: `${side} are too large to count whole: a sample was counted and scaled.`,
    fix: 'Send usage_metadata with the counts of the vendor.',
  }
}
