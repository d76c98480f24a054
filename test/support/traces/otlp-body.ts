import type { RequestHead } from '../../../src/trace/decode/decoded.ts'
import { requestHead } from './wire-body.ts'

/** A span in OTLP/JSON, with the fields that tests use. */
export interface JsonSpan {
  traceId?: unknown
  spanId?: unknown
  parentSpanId?: unknown
  name?: unknown
  startTimeUnixNano?: unknown
  endTimeUnixNano?: unknown
  attributes?: unknown
  [field: string]: unknown
}

export const TRACE = '5b8efff798038103d269b633813fc60c'
export const START_NS = '1795166133000000000'
export const END_NS = '1795166134500000000'

/** The id of span `n`. */
export const spanId = (n: number): string => `eee19b7ec3c1${String(n).padStart(4, '0')}`

/** A valid span; `changes` may make it invalid. */
export function jsonSpan(n: number, changes: JsonSpan = {}): JsonSpan {
  return {
    traceId: TRACE,
    spanId: spanId(n),
    name: `span ${n}`,
    kind: 1,
    startTimeUnixNano: START_NS,
    endTimeUnixNano: END_NS,
    ...changes,
  }
}

/** Attributes in OTLP/JSON from plain values. */
export function attributes(values: Record<string, string | number | boolean>): object[] {
  return Object.entries(values).map(([key, value]) => {
    if (typeof value === 'string') return { key, value: { stringValue: value } }
    if (typeof value === 'boolean') return { key, value: { boolValue: value } }
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }
  })
}

export function jsonExport(spans: readonly unknown[], resource: object = {}): Buffer {
  return Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: {}, spans }] }] }))
}

export function jsonLogExport(logRecords: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
}

/** The head of an export; JSON by default. */
export function otlpHead(changes: Partial<RequestHead> = {}): RequestHead {
  return requestHead({ kind: 'otlp-traces', content_type: 'application/json', ...changes })
}
