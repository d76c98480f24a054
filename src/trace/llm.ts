import type { Issue } from '../schema/issue.ts'
import { type JsonValue, isObject, text } from '../schema/json.ts'
import type { Message } from '../schema/types.gen.ts'
import { bareText, bareValue, type ChosenFormat, chooseFormat, unwrap } from './choose.ts'
import type { TraceRun } from './derive.ts'
import { message, textBlock } from './messages.ts'
import { billsThoughts, findModel, normalizeProvider, providerInPath } from './model-name.ts'
import type { MappedSide } from './otel/side-source.ts'
import type { PriceSource } from './price/price.ts'
import type { Hints, Processor, Side } from './processor.ts'
import { isRefusal } from './refused-call.ts'
import { addTier, serviceTierOf } from './service-tier.ts'
import { reportedUsage } from './usage.ts'
import { type Checks, judge } from './verdicts.ts'

/** What is known of an llm or embedding TraceRun besides what every TraceRun has. */
export interface LlmFacts {
  provider: string | undefined
  model: string | undefined
  /** Where the model name was found, e.g. `metadata.ls_model_name`. */
  model_source: string | undefined
  input_format: string | undefined
  output_format: string | undefined
  input_messages: Message[]
  output_messages: Message[]
  checks: Checks
}

/** What an estimate is made from. */
export interface Countable {
  messages: readonly Message[]
  /** The side as sent, for sides that no processor recognised. */
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
  /** Too much text to count whole: a sample was counted and scaled. */
  sampled: boolean
}

/** Counts tokens of one TraceRun where none were reported; both sides share one bound on the work. */
export interface Estimator {
  input(side: Countable): TokenEstimate
  output(side: Countable): TokenEstimate
}

export interface LlmContext {
  processors: readonly Processor[]
  /** A fresh estimator for one TraceRun. At read the stored estimate stands in for it. */
  startEstimate: () => Estimator
  /** Prices by workspace; without them, costs are those that were sent. */
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
  const sentProvider = text(metadata['ls_provider'])
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
  const found =
    early ??
    findModel(
      metadata,
      undefined,
      traceRun.merged.extra,
      output?.value ?? outputs,
      output?.model ?? input?.model,
    )
  const provider = sentProvider ?? output?.provider ?? input?.provider ?? providerInPath(found?.path)
  const llm: LlmFacts = {
    provider: provider === undefined ? undefined : normalizeProvider(provider),
    model: found?.model,
    model_source: found?.source,
    input_format: input?.format,
    output_format: output?.format,
    input_messages: input?.messages ?? [],
    output_messages: output?.messages ?? spoken(outputs, issues),
    checks: { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: true } },
  }
  traceRun.llm = llm
  traceRun.usage = reportedUsage(
    outputs,
    metadata,
    output?.usage,
    issues,
    mapped?.usage,
    billsThoughts(llm.provider, llm.model),
  )
  const encoding = estimateMissing(traceRun, llm, { inputs, outputs, input, output }, context.startEstimate)
  addTier(traceRun.usage, mapped?.service_tier ?? serviceTierOf(outputs, requestsOf(traceRun, rawInputs)))
  llm.checks = judge(traceRun, llm, { inputs, outputs, encoding })
}

/** Outputs that are text alone, shown as what the model said; none for others. */
function spoken(outputs: JsonValue | undefined, issues: Issue[]): Message[] {
  const said = bareText(outputs)
  const isJson = !issues.some(({ code, path }) => code === 'side_not_json' && path === 'outputs')
  return said === undefined || !isJson ? [] : [message('assistant', [textBlock(said)])]
}

/** The innermost unwrapped value that names a model, else the innermost of all. */
function withModel(candidates: { value: JsonValue }[] | undefined): JsonValue | undefined {
  const named = candidates?.find(
    ({ value }) => isObject(value) && (text(value['model']) ?? text(value['model_name'])) !== undefined,
  )
  return named?.value
}

/** The hints for one side of a span: which telemetry it was put together from. */
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

/** What an embedding model reads of its inputs: the text or texts alone, where they can be told from the rest. */
function embeddedText(inputs: JsonValue): JsonValue {
  const value = isObject(inputs)
    ? (inputs['input'] ?? inputs['texts'] ?? inputs['documents'] ?? inputs)
    : inputs
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join('\n') : value
}

interface Sides {
  inputs: JsonValue | undefined
  outputs: JsonValue | undefined
  input: ChosenFormat | undefined
  output: ChosenFormat | undefined
}

/**
 * Fills in the side whose count nobody reported, once the TraceRun has ended: before that the counts may still come.
 * Returns the encoding that was used.
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
  // A span whose content was not captured says nothing of how much there was.
  const isSilent = traceRun.mapped !== undefined && sides.outputs === undefined && traceRun.status !== 'error'
  const needsOutput = usage.source.output === null && traceRun.run_type === 'llm' && !isSilent
  if (usage.source.input !== null && !needsOutput) return undefined
  const estimator = startEstimate()
  const names = {
    model: llm.model,
    provider: llm.provider,
    tools: sides.input?.tools ?? paramsTools(traceRun),
  }
  let encoding: string | undefined
  if (usage.source.input === null && sides.inputs !== undefined) {
    const estimate = estimator.input({
      ...names,
      messages: llm.input_messages,
      raw:
        traceRun.run_type === 'embedding'
          ? embeddedText(sides.inputs)
          : (sides.input?.value ?? bareValue('inputs', sides.inputs)),
      recognised: sides.input !== undefined,
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
        raw: sides.output?.value ?? bareValue('outputs', sides.outputs),
        recognised: sides.output !== undefined,
      })
      usage.output_tokens = estimate.tokens
      encoding = estimate.encoding
      if (estimate.sampled) issues.push(sampled('outputs'))
    }
  }
  return encoding
}

/**
 * True for what would be counted without having been billed: a call that the vendor refused, and a span in which
 * neither side has messages, since frameworks mark steps of theirs as calls of a model.
 */
function isUncounted({ status, error, mapped, usage }: TraceRun, sides: Sides): boolean {
  if (usage.source.input !== null || usage.source.output !== null) return false
  if (status === 'error' && sides.outputs === undefined) return mapped?.refused ?? isRefusal(error)
  const isKnown = sides.input !== undefined || sides.output !== undefined
  return mapped !== undefined && mapped.run_type === 'llm' && !isKnown
}

/**
 * What a call was asked with: its inputs, unwrapped, and the parameters that clients keep beside them. Other metadata is
 * the user's own, and means what the user likes.
 */
function requestsOf(
  { merged: { extra }, metadata }: TraceRun,
  inputs: { value: JsonValue }[] | undefined,
): (JsonValue | undefined)[] {
  return [
    ...(inputs ?? []).map(({ value }) => value),
    extra['invocation_params'],
    extra,
    metadata['ls_invocation_params'],
  ]
}

/** LangChain sends tools beside the inputs. */
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
