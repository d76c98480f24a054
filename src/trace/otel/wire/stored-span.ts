import { AppError } from '../../../base/errors.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import { formatTime } from '../../derive/time.ts'
import { REQUEST, RESOURCE_GROUP, SCOPE_GROUP } from './proto/fields.ts'
import { readProtoSpans } from './proto/decode.ts'
import { type IncomingSource, type IncomingSpan, isTime, type OtlpSource, type WireSpan } from './record.ts'
import type { ProtoWriter } from './proto/writer.ts'

/** First byte of a stored span. Neither JSON nor text of clients begins with this byte. */
const MARKER = 0

/**
 * Writes a span as the `extra` of its fragment: a marker, and an ExportTraceServiceRequest with only this span, whose
 * bytes are unchanged. Converting it to JSON would take longer than all other decoding, and parsing that JSON even
 * longer.
 */
export function writeStoredSpan(
  out: ProtoWriter,
  span: IncomingSpan,
  source: IncomingSource,
  without: string | undefined,
): void {
  out.length = 0
  out.byte(MARKER)
  const resourceSpans = out.begin(REQUEST.resource_group)
  out.raw(source.resource)
  const scopeSpans = out.begin(RESOURCE_GROUP.scope_group)
  out.raw(source.scope)
  const start = out.begin(SCOPE_GROUP.record)
  span.write(out, without)
  out.end(start)
  out.end(scopeSpans)
  out.end(resourceSpans)
}

/** The SpanRecord that `writeStoredSpan` wrote, and the other stored members; undefined for other bytes. */
export function readStoredSpan(bytes: Uint8Array): JsonObject | undefined {
  if (bytes[0] !== MARKER) return undefined
  const message = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.byteLength - 1)
  let record: JsonObject | undefined
  try {
    readProtoSpans(
      message,
      (span, source) => {
        record = toRecord(span, source)
      },
      () => undefined,
    )
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    return undefined
  }
  return record
}

function toRecord(span: WireSpan, { resource, scope }: OtlpSource): JsonObject {
  const { code, message } = span.status
  const record: JsonObject = {
    trace_id: span.trace_id,
    span_id: span.span_id,
    name: span.name,
    kind: span.kind,
    scope,
    resource,
    attributes: span.attributes,
    events: span.events.map(({ name, time, attributes }) => ({ name, time: timeText(time), attributes })),
    status: { code: code === 1 || code === 2 ? code : 0, ...(message ? { message } : {}) },
  }
  if (/[^0]/.test(span.parent_span_id)) record['parent_span_id'] = span.parent_span_id
  if (span.trace_state !== '') record['trace_state'] = span.trace_state
  if (span.links.length > 0) record['links'] = span.links as unknown as JsonValue
  return record
}

/** ISO 8601; '' when absent or invalid. */
export function timeText(micros: number): string {
  return isTime(micros) ? formatTime(micros) : ''
}
