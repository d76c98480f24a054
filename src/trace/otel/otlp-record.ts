import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { ProtoWriter } from './proto-writer.ts'

/** How an OTLP/HTTP body is written. */
export type OtlpFormat = 'protobuf' | 'json'

/** What produced the records that follow it: one object for all of them, so that its text is made once. */
export interface OtlpSource {
  resource: JsonObject
  scope: { name?: string; version?: string }
}

/** What spans and log records have in common. */
interface WireRecord {
  /** Hex digits, lower case; '' when absent, any length when wrong. */
  trace_id: string
  span_id: string
  name: string
  attributes: JsonObject
  /** Why it cannot be stored. */
  fault: OtlpFault | undefined
}

/** A fault of one record; the others of its request do not suffer. */
export interface OtlpFault {
  code: 'invalid_field' | 'run_too_large'
  reason: string
}

/** A span as it came. Times are epoch microseconds, 0 when absent. */
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

/** A log record as it came. */
export interface WireLog extends WireRecord {
  time: number
  body: JsonValue
}

/** Told of every record of a request, in order. */
export type TakeRecord<T> = (record: T, source: OtlpSource) => void

/** Attributes that decoding itself must understand begin so. */
export const MARK_PREFIX = 'langsmith.'

/** A span on its way into the store: what must be known of it to file it, and its bytes. */
export type IncomingSpan = Pick<
  WireSpan,
  'trace_id' | 'span_id' | 'parent_span_id' | 'name' | 'start' | 'end' | 'fault'
> & {
  /** Its attributes that begin with MARK_PREFIX; others may be there. */
  marks: JsonObject
  /** Appends the span's fields, without the attribute of that name. */
  write(out: ProtoWriter, without: string | undefined): void
}

/** What produced a span, as the fields of ResourceSpans and ScopeSpans that say it. */
export interface IncomingSource {
  resource: Uint8Array
  scope: Uint8Array
  /** The resource's attributes that begin with MARK_PREFIX; others may be there. */
  marks: JsonObject
}

export type TakeSpan = (span: IncomingSpan, source: IncomingSource) => void

/** Nesting of one attribute's value. */
export const MAX_VALUE_DEPTH = 64
/** Attributes, and values inside them, of one record: what maps a span looks at every one. */
const MAX_VALUES = 10_000

/** Counts what one record holds, so that no record is larger than those who read it later can bear. */
export class RecordBudget {
  private values = MAX_VALUES
  fault: OtlpFault | undefined

  /** For the next record. */
  reset(): void {
    this.values = MAX_VALUES
    this.fault = undefined
  }

  /** Accounts for one more value, nested `depth` deep; false when it must be left out. */
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

/** True for epoch microseconds that are a time; 0 stands for none, and NaN for what is no time. */
export function isTime(micros: number): boolean {
  return micros > 0 && micros <= Number.MAX_SAFE_INTEGER
}

/** Sets an attribute, whatever its name is. */
export function setAttribute(attributes: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') attributes[key] = value
  else Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true })
}

/** A floating-point number; JSON has no others than finite ones, and no negative zero. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null
}
