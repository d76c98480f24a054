import type { Issue } from '../../schema/issue.ts'
import { type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import { parseUuid } from '../../base/ids.ts'
import { isRefusal } from '../refused-call.ts'
import type { FoundUsage } from '../usage-sources.ts'
import { firstTokenOfSpan } from './map-first-token.ts'
import { runTypeOf } from './map-kind.ts'
import { invocationParamsOf, metadataOfSpan, tagsOfSpan } from './map-metadata.ts'
import { mapSides } from './map-sides.ts'
import { serviceTierOfSpan } from './map-service-tier.ts'
import { usageOfSpan } from './map-usage.ts'
import type { MappedSide } from './side-source.ts'
import type { OtelSpan } from './span.ts'
import { type SpanView, viewSpan } from './span-view.ts'

/** What a span says in the words of a TraceRun (contract §2.10). */
export interface MappedSpan {
  name: string
  run_type: string
  /** To be merged under `extra.metadata`; what was sent there wins. */
  metadata: JsonObject
  tags: string[]
  error: string | undefined
  /** The error says that the vendor refused the call. */
  refused: boolean
  /** Settings of the call; the tools offered are under `tools`. */
  invocation_params: JsonObject | undefined
  /** Sources of counts, the best first; searched before those in the outputs. */
  usage: FoundUsage[]
  /** As `readTier`; undefined where no attribute names one. */
  service_tier: string | undefined
  /** Epoch microseconds; on spans of type llm only. */
  first_token_time: number | undefined
  inputs: MappedSide | undefined
  outputs: MappedSide | undefined
  reference_example_id: string | undefined
  issues: Issue[]
}

/** When the span started and ended, epoch microseconds, as far as it says. */
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
  return {
    name: nameOf(view, run_type),
    run_type,
    metadata: metadataOfSpan(view, run_type),
    tags: tagsOfSpan(view),
    error: errorOf(view),
    refused: isRefused(view),
    invocation_params: invocationParamsOf(view),
    usage: usageOfSpan(view, run_type, issues),
    service_tier: serviceTierOfSpan(view),
    first_token_time: run_type === 'llm' ? firstTokenOfSpan(view, times.start, times.end, issues) : undefined,
    inputs,
    outputs,
    reference_example_id: parseUuid(view.get('langsmith.reference_example_id')),
    issues,
  }
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
  return named ?? tool ?? text(view.span.name) ?? 'unnamed'
}

/** The exception that was recorded, else the status, else the type of error that the conventions put beside it. */
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

/** By the exception, the type of the error or an HTTP status. */
function isRefused(view: SpanView): boolean {
  const status = view.number('http.response.status_code', 'http.status_code')
  const types = view.span.events.map(({ attributes }) => text(attributes['exception.type']))
  return isRefusal(status?.toString(), errorOf(view), view.text('error.type'), ...types)
}

function exceptionText(attributes: JsonObject): string {
  const say = (value: JsonValue | undefined): string | undefined => text(value)
  const message = say(attributes['exception.message']) ?? say(attributes['exception.type']) ?? 'exception'
  const stack = say(attributes['exception.stacktrace'])
  if (stack === undefined) return message
  return stack.includes(message) ? stack : `${message}\n\n${stack}`
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
