import type { IncomingHttpHeaders } from 'node:http'
import { dashed } from '../../../base/ids.ts'
import type { CallerTrace } from '../../../runs/model.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import { parseDottedOrder } from '../../../trace/derive/lineage/dotted-order.ts'
import { spanUuid } from '../../../trace/otel/span/ids.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentContext } from '../route.ts'

const MAX_ORDER = 8000
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})/
const SAMPLED = 1

/**
 * The trace of a caller over MCP or A2A, in which the run is recorded (RUN-37). Undefined without one, and for callers
 * who may not write traces. `meta` is `_meta` of a request of MCP.
 */
export function callerTrace(context: DeploymentContext, meta: JsonObject = {}): CallerTrace | undefined {
  if (!context.principal.permissions.has('runs:create')) return undefined
  const { headers } = callOf(context)
  return ofLangsmith(headers) ?? ofSpan(meta['traceparent']) ?? ofSpan(traceparentOf(context.req.headers))
}

function traceparentOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined
}

/** From `langsmith-trace`, the dotted_order of the caller's run, and the project in its `baggage`. */
export function ofLangsmith(headers: Readonly<JsonObject>): CallerTrace | undefined {
  const sent = headers['langsmith-trace']
  if (typeof sent !== 'string' || sent.length > MAX_ORDER) return undefined
  const order = parseDottedOrder(sent)
  const [first, last] = order.ok ? [order.segments[0], order.segments.at(-1)] : []
  if (first === undefined || last === undefined) return undefined
  const project = headers['langsmith-project']
  return {
    trace_id: first.id,
    parent_run_id: last.id,
    dotted_order: sent,
    ...(typeof project === 'string' && project !== '' && { project }),
  }
}

/** From `traceparent` of W3C, unless the caller does not record its trace. */
export function ofSpan(traceparent: JsonValue | undefined): CallerTrace | undefined {
  const [, trace, span, flags = '0'] =
    typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : []
  if (trace === undefined || span === undefined || (Number.parseInt(flags, 16) & SAMPLED) === 0)
    return undefined
  return { trace_id: dashed(trace), parent_run_id: spanUuid(span) }
}
