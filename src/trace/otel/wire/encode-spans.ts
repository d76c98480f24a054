import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import {
  type IncomingSource,
  type IncomingSpan,
  isTime,
  type OtlpSource,
  type TakeSpan,
  type WireSpan,
} from './record.ts'
import {
  ANY_VALUE,
  ARRAY_VALUE,
  EVENT,
  KEY_VALUE,
  KEY_VALUE_LIST,
  LINK,
  RESOURCE_GROUP,
  SCOPE,
  SCOPE_GROUP,
  SPAN,
  STATUS,
} from './proto/fields.ts'
import { ProtoWriter } from './proto/writer.ts'

/**
 * Returns a function that encodes spans from JSON as protobuf and passes them to `take`, so that all spans are stored
 * in one format.
 */
export function encoding(take: TakeSpan): (span: WireSpan, source: OtlpSource) => void {
  let last: { of: OtlpSource; encoded: IncomingSource } | undefined
  return (span, source) => {
    if (last?.of !== source) last = { of: source, encoded: encodeSource(source) }
    take(encodedSpan(span), last.encoded)
  }
}

function encodeSource({ resource, scope }: OtlpSource): IncomingSource {
  return {
    resource: encoded((out) =>
      message(out, RESOURCE_GROUP.resource, () => attributes(out, KEY_VALUE_LIST.key_value, resource)),
    ),
    scope: encoded((out) =>
      message(out, SCOPE_GROUP.scope, () => {
        if (scope.name !== undefined) out.string(SCOPE.name, scope.name)
        if (scope.version !== undefined) out.string(SCOPE.version, scope.version)
      }),
    ),
    marks: resource,
  }
}

function encoded(write: (out: ProtoWriter) => void): Uint8Array {
  const out = new ProtoWriter(1024)
  write(out)
  return out.view()
}

function encodedSpan(span: WireSpan): IncomingSpan {
  const { trace_id, span_id, parent_span_id, name, start, end, fault } = span
  return {
    trace_id,
    span_id,
    parent_span_id,
    name,
    start,
    end,
    fault,
    marks: span.attributes,
    write: (out, without) => writeSpan(out, span, without),
  }
}

function writeSpan(out: ProtoWriter, span: WireSpan, without: string | undefined): void {
  out.hex(SPAN.trace_id, span.trace_id)
  out.hex(SPAN.span_id, span.span_id)
  if (span.trace_state !== '') out.string(SPAN.trace_state, span.trace_state)
  if (span.parent_span_id !== '') out.hex(SPAN.parent_span_id, span.parent_span_id)
  out.string(SPAN.name, span.name)
  out.int(SPAN.kind, Number.isSafeInteger(span.kind) ? span.kind : 0)
  out.micros(SPAN.start_time, span.start)
  if (span.end !== 0) out.micros(SPAN.end_time, span.end)
  attributes(out, SPAN.attribute, span.attributes, without)
  for (const event of span.events)
    message(out, SPAN.event, () => {
      if (isTime(event.time)) out.micros(EVENT.time, event.time)
      out.string(EVENT.name, event.name)
      attributes(out, EVENT.attribute, event.attributes)
    })
  for (const link of span.links)
    message(out, SPAN.link, () => {
      out.hex(LINK.trace_id, link.trace_id)
      out.hex(LINK.span_id, link.span_id)
      attributes(out, LINK.attribute, link.attributes)
    })
  message(out, SPAN.status, () => {
    if (span.status.message !== undefined) out.string(STATUS.message, span.status.message)
    out.int(STATUS.code, Number.isSafeInteger(span.status.code) ? span.status.code : 0)
  })
}

function message(out: ProtoWriter, tag: number, write: () => void): void {
  const start = out.begin(tag)
  write()
  out.end(start)
}

/** Writes a list of attributes, each in a field with this tag. */
function attributes(out: ProtoWriter, tag: number, values: JsonObject, without?: string): void {
  for (const key of Object.keys(values)) {
    if (key === without) continue
    const start = out.begin(tag)
    out.string(KEY_VALUE.key, key)
    value(out, KEY_VALUE.value, values[key] ?? null)
    out.end(start)
  }
}

/** Writes an AnyValue in a field with this tag. */
function value(out: ProtoWriter, tag: number, any: JsonValue): void {
  const start = out.begin(tag)
  if (typeof any === 'string') out.string(ANY_VALUE.string, any)
  else if (typeof any === 'boolean') out.int(ANY_VALUE.bool, any ? 1 : 0)
  else if (typeof any === 'number') {
    if (Number.isSafeInteger(any)) out.int(ANY_VALUE.int, any)
    else out.double(ANY_VALUE.double, any)
  } else if (Array.isArray(any))
    message(out, ANY_VALUE.array, () => any.forEach((item) => value(out, ARRAY_VALUE.value, item)))
  else if (any !== null)
    message(out, ANY_VALUE.key_value_list, () => attributes(out, KEY_VALUE_LIST.key_value, any))
  out.end(start)
}
