import type { JsonObject, JsonValue } from '../../schema/json.ts'
import {
  type IncomingSource,
  type IncomingSpan,
  isTime,
  type OtlpSource,
  type TakeSpan,
  type WireSpan,
} from './otlp-record.ts'
import { ProtoWriter } from './proto-writer.ts'

/**
 * What spans that were read from JSON are handed on to: they are stored as those that came as protobuf, so that
 * nobody who reads them has to know. Field numbers as in otlp-proto.ts.
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
    resource: encoded((out) => message(out, 10, () => attributes(out, 10, resource))),
    scope: encoded((out) =>
      message(out, 10, () => {
        if (scope.name !== undefined) out.string(10, scope.name)
        if (scope.version !== undefined) out.string(18, scope.version)
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
  out.hex(10, span.trace_id)
  out.hex(18, span.span_id)
  if (span.trace_state !== '') out.string(26, span.trace_state)
  if (span.parent_span_id !== '') out.hex(34, span.parent_span_id)
  out.string(42, span.name)
  out.int(48, Number.isSafeInteger(span.kind) ? span.kind : 0)
  out.micros(57, span.start)
  if (span.end !== 0) out.micros(65, span.end)
  attributes(out, 74, span.attributes, without)
  for (const event of span.events)
    message(out, 90, () => {
      if (isTime(event.time)) out.micros(9, event.time)
      out.string(18, event.name)
      attributes(out, 26, event.attributes)
    })
  for (const link of span.links)
    message(out, 106, () => {
      out.hex(10, link.trace_id)
      out.hex(18, link.span_id)
      attributes(out, 34, link.attributes)
    })
  message(out, 122, () => {
    if (span.status.message !== undefined) out.string(18, span.status.message)
    out.int(24, Number.isSafeInteger(span.status.code) ? span.status.code : 0)
  })
}

function message(out: ProtoWriter, tag: number, write: () => void): void {
  const start = out.begin(tag)
  write()
  out.end(start)
}

/** A list of attributes, each in a field with this tag. */
function attributes(out: ProtoWriter, tag: number, values: JsonObject, without?: string): void {
  for (const key of Object.keys(values)) {
    if (key === without) continue
    const start = out.begin(tag)
    out.string(10, key)
    value(out, 18, values[key] ?? null)
    out.end(start)
  }
}

/** An AnyValue in a field with this tag. */
function value(out: ProtoWriter, tag: number, any: JsonValue): void {
  const start = out.begin(tag)
  if (typeof any === 'string') out.string(10, any)
  else if (typeof any === 'boolean') out.int(16, any ? 1 : 0)
  else if (typeof any === 'number') {
    if (Number.isSafeInteger(any)) out.int(24, any)
    else out.double(33, any)
  } else if (Array.isArray(any)) message(out, 42, () => any.forEach((item) => value(out, 10, item)))
  else if (any !== null) message(out, 50, () => attributes(out, 10, any))
  out.end(start)
}
