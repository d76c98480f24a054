import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import type { ProtoWriter } from './proto/writer.ts'

/** Encoding of an OTLP/HTTP body. */
export type OtlpFormat = 'protobuf' | 'json'

/** The resource and scope of records; the same object for all of their records, so that its text is made once. */
export interface OtlpSource {
  resource: JsonObject
  scope: { name?: string; version?: string }
}

/** Fields that spans and log records have in common. */
interface WireRecord {
  /** Hex digits in lower case; '' if absent; of any length if invalid. */
  trace_id: string
  span_id: string
  name: string
  attributes: JsonObject
  /** The reason why the record cannot be stored. */
  fault: OtlpFault | undefined
}

/** A fault of one record; it does not affect the other records of the request. */
export interface OtlpFault {
  code: 'invalid_field' | 'run_too_large'
  reason: string
}

/** A span as sent. Times are epoch microseconds, 0 if absent. */
export interface WireSpan extends WireRecord {
  parent_span_id: string
  trace_state: string
  kind: number
  start: number
  end: number
  events: WireEvent[]
  links: WireLink[]
  status: { code: number; message?: string }
}

export interface WireEvent {
  name: string
  time: number
  attributes: JsonObject
}

export interface WireLink {
  trace_id: string
  span_id: string
  attributes: JsonObject
}

export interface WireLog extends WireRecord {
  time: number
  body: JsonValue
}

/** Called for every record of a request, in order. */
export type TakeRecord<T> = (record: T, source: OtlpSource) => void

/** Prefix of attributes that decoding itself reads. */
export const MARK_PREFIX = 'langsmith.'

/** A span before it is stored: the fields that determine its ids and project, and its bytes. */
export type IncomingSpan = Pick<
  WireSpan,
  'trace_id' | 'span_id' | 'parent_span_id' | 'name' | 'start' | 'end' | 'fault'
> & {
  /** Attributes of the record: at least all that begin with MARK_PREFIX. */
  marks: JsonObject
  /** Appends the span's fields, without the attribute named `without`. */
  write(out: ProtoWriter, without: string | undefined): void
}

/** The resource and scope of a span, as the fields of ResourceSpans and ScopeSpans. */
export interface IncomingSource {
  resource: Uint8Array
  scope: Uint8Array
  /** Attributes of the resource: at least all that begin with MARK_PREFIX. */
  marks: JsonObject
}

export type TakeSpan = (span: IncomingSpan, source: IncomingSource) => void

/** Maximum nesting of an attribute's value. */
export const MAX_VALUE_DEPTH = 64
/** Maximum number of attributes of one record and of values inside them, since mapping a span reads each. */
const MAX_VALUES = 10_000

/** Counts the values of one record, in order to limit the work of reading it later. */
export class RecordBudget {
  private values = MAX_VALUES
  fault: OtlpFault | undefined

  /** Starts the next record. */
  reset(): void {
    this.values = MAX_VALUES
    this.fault = undefined
  }

  /** Counts one more value, nested `depth` deep. Returns false if it must be left out. */
  take(depth: number): boolean {
    if (depth > MAX_VALUE_DEPTH) {
      this.fault ??= { code: 'invalid_field', reason: `A value is nested more than ${MAX_VALUE_DEPTH} deep.` }
      return false
    }
    if (this.values-- > 0) return true
    this.fault ??= { code: 'run_too_large', reason: `It has more than ${MAX_VALUES} values.` }
    return false
  }
}

/** Whether epoch microseconds are a time; 0 stands for none, NaN for an invalid time. */
export function isTime(micros: number): boolean {
  return micros > 0 && micros <= Number.MAX_SAFE_INTEGER
}

/** Sets an attribute, even if its name is `__proto__`. */
export function setAttribute(attributes: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') attributes[key] = value
  else Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Converts a floating-point number to one that JSON has: null if it is not finite; negative zero becomes 0. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null
}
