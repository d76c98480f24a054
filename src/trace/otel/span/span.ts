import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import type { MergedTraceRun } from '../../derive/merged-trace-run.ts'

export interface SpanEvent {
  name: string
  /** ISO 8601. */
  time: string
  attributes: JsonObject
}

/** A span as stored under `extra.otel_span`, unmapped; it is mapped whenever its TraceRun is derived (D-11). */
export interface SpanRecord {
  /** 32 hex digits, lower case. */
  trace_id: string
  /** 16 hex digits, lower case. */
  span_id: string
  parent_span_id?: string
  name: string
  /** OTLP's SpanKind: 1 internal, 2 server, 3 client, 4 producer, 5 consumer, 0 unspecified. */
  kind: number
  scope: { name?: string; version?: string }
  /** Attributes of the resource. */
  resource: JsonObject
  /** Values by flat key; lists and objects as sent, bytes as base64. */
  attributes: JsonObject
  events: SpanEvent[]
  /** 0 unset, 1 ok, 2 error. */
  status: { code: number; message?: string }
}

/** A log record that belongs to a span: a GenAI content event of the logs signal. */
export interface SpanLog {
  name: string
  /** ISO 8601. */
  time: string
  attributes: JsonObject
  body: JsonValue
}

/** A span with the log records that were sent for it, in no particular order. */
export interface OtelSpan extends SpanRecord {
  logs: SpanLog[]
}

/** The key of the span in `extra`. */
export const SPAN_KEY = 'otel_span'
/** Prefix of the keys of its log records in `extra`; a content hash follows. */
export const LOG_PREFIX = 'otel_log:'

/**
 * The span of a TraceRun that was sent as a span, with its log records; undefined for a TraceRun from LangSmith's
 * API.
 */
export function spanOf(merged: MergedTraceRun): OtelSpan | undefined {
  const span = merged.extra[SPAN_KEY]
  if (!isObject(span)) return undefined
  const logs: SpanLog[] = []
  for (const key in merged.extra) {
    const value = merged.extra[key]
    if (key.startsWith(LOG_PREFIX) && isObject(value)) logs.push(readLog(value))
  }
  return Object.assign(readSpan(span), { logs })
}

/** Returns the later record of a span, unless it is an empty version of the earlier record. */
export function laterSpan(before: JsonObject, now: JsonObject): JsonObject {
  return isEmpty(now) && now['name'] === before['name'] ? before : now
}

function isEmpty({ attributes, events }: JsonObject): boolean {
  const hasAttributes = isObject(attributes) && Object.keys(attributes).length > 0
  return !hasAttributes && !(Array.isArray(events) && events.length > 0)
}

/** Converts any stored value to a valid record, since a client of LangSmith's API may send any value under the key. */
export function readSpan(span: JsonObject): SpanRecord {
  const scope = object(span['scope'])
  const status = object(span['status'])
  const parent = text(span['parent_span_id'])
  const scopeName = text(scope['name'])
  const version = text(scope['version'])
  const message = text(status['message'])
  const record: SpanRecord = {
    trace_id: text(span['trace_id']) ?? '',
    span_id: text(span['span_id']) ?? '',
    name: text(span['name']) ?? '',
    kind: number(span['kind']),
    scope: {},
    resource: object(span['resource']),
    attributes: object(span['attributes']),
    events: (Array.isArray(span['events']) ? span['events'] : []).filter(isObject).map(readEvent),
    status: { code: number(status['code']) },
  }
  if (parent !== undefined) record.parent_span_id = parent
  if (scopeName !== undefined) record.scope.name = scopeName
  if (version !== undefined) record.scope.version = version
  if (message !== undefined) record.status.message = message
  return record
}

function readEvent(event: JsonObject): SpanEvent {
  return {
    name: text(event['name']) ?? '',
    time: text(event['time']) ?? '',
    attributes: object(event['attributes']),
  }
}

function readLog(log: JsonObject): SpanLog {
  return { ...readEvent(log), body: log['body'] ?? null }
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

function number(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
