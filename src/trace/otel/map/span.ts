import type { Issue } from '../../../schema/issue.ts'
import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import { parseUuid } from '../../../base/ids.ts'
import { isRefusal } from '../../derive/refused-call.ts'
import type { FoundUsage } from '../../tokens/usage/places.ts'
import { firstTokenOfSpan, hasTokenEvent } from './first-token.ts'
import { sentCountsOf, dropsCounts, runTypeOf } from './kind.ts'
import { calledModel, invocationParamsOf, metadataOfSpan, tagsOfSpan } from './metadata.ts'
import { mapSides } from './sides.ts'
import { serviceTierOfSpan } from './service-tier.ts'
import { usageOfSpan } from './usage.ts'
import type { MappedSide } from './side-source.ts'
import type { OtelSpan } from '../span/span.ts'
import { type SpanView, viewSpan } from '../span/view.ts'
import { filterSuggestion } from './web-span.ts'

/** The content of a span in the terms of a TraceRun. */
export interface MappedSpan {
  name: string
  run_type: string
  /** Merged under `extra.metadata`; metadata that was sent there takes precedence. */
  metadata: JsonObject
  tags: string[]
  error: string | undefined
  /** Whether the error shows that the vendor refused the call, and nothing shows a first token. */
  refused: boolean
  /** Settings of the call, with the offered tools under `tools`. */
  invocation_params: JsonObject | undefined
  /** Sources of counts, the best first; searched before those in the outputs. */
  usage: FoundUsage[]
  /** The model of a span whose usage is the sum of the calls below it; undefined for all other spans. */
  summed: { model: string | undefined; provider: string | undefined } | undefined
  /** The service tier as `readTier` returns it; undefined if no attribute has one. */
  service_tier: string | undefined
  /** True for the request of a call whose answer is another span. Its tokens are not estimated. */
  is_answered_elsewhere: boolean
  /** Whether the vendor's own SDK made the span, so that its counts are those of the answer. */
  is_vendors: boolean
  /** The model that the answer names, if an attribute does. */
  answered_model: string | undefined
  /** The id of the vendor's answer; only for spans of type llm. */
  response_id: string | undefined
  /** Epoch microseconds; only for spans of type llm. */
  first_token_time: number | undefined
  inputs: MappedSide | undefined
  outputs: MappedSide | undefined
  reference_example_id: string | undefined
  issues: Issue[]
}

/** Start and end of the span in epoch microseconds, if known. */
export interface SpanTimes {
  start: number | undefined
  end: number | undefined
}

/** Maps a span. Pure, and linear in the number of its attributes. */
export function mapSpan(span: OtelSpan, times: SpanTimes): MappedSpan {
  const view = viewSpan(span)
  const issues: Issue[] = []
  const run_type = runTypeOf(view)
  const { inputs, outputs } = mapSides(view, run_type)
  if (run_type === 'llm' && inputs === undefined && outputs === undefined) issues.push(unknownDialect(span))
  if (dropsCounts(view, run_type)) issues.push(usageDropped(view))
  issues.push(...filterSuggestion(span, run_type))
  const first_token_time =
    run_type === 'llm' ? firstTokenOfSpan(view, times.start, times.end, issues) : undefined
  const error = errorOf(view)
  const isChain = run_type === 'chain'
  // Whether a sum counts is not known here, so what is wrong with it is no fault of the span.
  const usage = usageOfSpan(view, run_type, isChain ? [] : issues)
  return {
    name: nameOf(view, run_type),
    run_type,
    metadata: metadataOfSpan(view, run_type),
    tags: tagsOfSpan(view),
    error,
    refused:
      error !== undefined && first_token_time === undefined && !hasTokenEvent(view) && isRefused(view, error),
    invocation_params: invocationParamsOf(view),
    usage,
    summed: isChain && usage.length > 0 ? calledModel(view) : undefined,
    service_tier: serviceTierOfSpan(view),
    is_answered_elsewhere: run_type === 'llm' && isStreamRequest(view, outputs),
    is_vendors: VENDORS_OWN.test(span.scope.name ?? ''),
    answered_model: view.text('gen_ai.response.model', 'ai.response.model', 'llm.response.model'),
    response_id: run_type === 'llm' ? responseIdOf(view) : undefined,
    first_token_time,
    inputs,
    outputs,
    reference_example_id: parseUuid(view.get('langsmith.reference_example_id')),
    issues,
  }
}

/** Scopes of vendors' SDKs that trace themselves: `com.anthropic.sdk.python`. */
const VENDORS_OWN = /^com\.(?:anthropic|openai)\.sdk\b/

/** Whether the span is Logfire's request of a stream, whose content is in a separate log after the span. */
function isStreamRequest(view: SpanView, outputs: MappedSide | undefined): boolean {
  const { status, scope } = view.span
  const isLogfire = /^logfire\.(?:openai|anthropic)/.test(scope.name ?? '')
  return isLogfire && view.text('logfire.span_type') === 'span' && outputs === undefined && status.code !== 2
}

/** The start of a vendor's answer as JSON; JSON that a model wrote itself may start in the same way. */
const ANSWER_START = /^\s{0,8}\{\s{0,8}"id"\s{0,8}:\s{0,8}"[^"\\]{1,256}"/
/** Fields of vendors' answers with the model's messages; always lists. */
const ANSWER_LISTS = ['choices', 'content', 'output', 'candidates'] as const
const ANSWERS = ['output.value', 'mlflow.spanOutputs'] as const

/** The id of the vendor's answer, from an attribute or from the recorded answer. */
function responseIdOf(view: SpanView): string | undefined {
  const named = view.text('gen_ai.response.id', 'ai.response.id', 'llm.response.id')
  if (named !== undefined) return named
  const key = ANSWERS.find((name) => view.text(name) !== undefined)
  if (key === undefined || !ANSWER_START.test(view.text(key)!)) return undefined
  const value = view.json(key)
  return isObject(value) && ANSWER_LISTS.some((key) => Array.isArray(value[key]))
    ? text(value['id'])
    : undefined
}

const TOOL_NAMES = [
  'tool.name',
  'gen_ai.tool.name',
  'ai.toolCall.name',
  'spring.ai.tool.definition.name',
] as const

function nameOf(view: SpanView, runType: string): string {
  const tool = runType === 'tool' ? view.text(...TOOL_NAMES) : undefined
  const named = view.text('langsmith.trace.name', 'traceloop.entity.name')
  // Logfire names its spans after templates.
  return named ?? tool ?? view.text('logfire.msg') ?? text(view.span.name) ?? 'unnamed'
}

/**
 * The recorded exception, otherwise the status, otherwise the error type in the attribute of the conventions.
 */
function errorOf(view: SpanView): string | undefined {
  const { events, status } = view.span
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i]!
    if (event.name === 'exception') return exceptionText(event.attributes)
  }
  if (view.text('langfuse.observation.level') === 'ERROR')
    return view.text('langfuse.observation.status_message') ?? text(status.message) ?? 'error'
  const type = view.text('error.type')
  if (status.code === 2) return text(status.message) ?? view.text('error.message') ?? type ?? 'error'
  return type === undefined ? undefined : (view.text('error.message') ?? type)
}

/** Whether the exception, the type of the error or an HTTP status shows that the vendor refused the call. */
function isRefused(view: SpanView, error: string): boolean {
  const status = view.number('http.response.status_code', 'http.status_code')
  const types = view.span.events.map(({ attributes }) => text(attributes['exception.type']))
  return isRefusal(status?.toString(), error, view.text('error.type'), ...types)
}

function exceptionText(attributes: JsonObject): string {
  const say = (value: JsonValue | undefined): string | undefined => text(value)
  const message = say(attributes['exception.message']) ?? say(attributes['exception.type']) ?? 'exception'
  const stack = say(attributes['exception.stacktrace'])
  if (stack === undefined) return message
  return stack.includes(message) ? stack : `${message}\n\n${stack}`
}

function usageDropped(view: SpanView): Issue {
  const counts = sentCountsOf(view).map(({ key, count }) => `${key} ${count}`)
  return {
    code: 'usage_dropped',
    severity: 'warning',
    path: 'extra.otel_span.attributes',
    message: `The span is no call of a model, so its counts are not counted: ${counts.join(', ')}.`,
    fix: 'Name the operation (gen_ai.operation.name) and the model (gen_ai.request.model) of a call.',
  }
}

function unknownDialect(span: OtelSpan): Issue {
  const scope = span.scope.name === undefined ? 'no scope name' : `the scope ${span.scope.name.slice(0, 100)}`
  return {
    code: 'dialect_unknown',
    severity: 'warning',
    path: 'extra.otel_span',
    message: `The span (with ${scope}) holds no messages in a known form; all of it is kept here.`,
    fix: 'Switch on the capture of message content in the instrumentation, or send gen_ai.input.messages.',
  }
}
