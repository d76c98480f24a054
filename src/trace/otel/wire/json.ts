import { AppError } from '../../../base/errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { parseJson } from '../../json/json-text.ts'
import {
  finite,
  type OtlpSource,
  RecordBudget,
  setAttribute,
  type TakeRecord,
  type WireEvent,
  type WireLink,
  type WireLog,
  type WireSpan,
} from './record.ts'

/** A field's lowerCamelCase name and its name in the .proto. */
type FieldName = readonly [string, string]
/** The names of the lists of resources, scopes and records. */
type Levels = readonly [FieldName, FieldName, FieldName]

const TRACES: Levels = [
  ['resourceSpans', 'resource_spans'],
  ['scopeSpans', 'scope_spans'],
  ['spans', 'spans'],
]
const LOGS: Levels = [
  ['resourceLogs', 'resource_logs'],
  ['scopeLogs', 'scope_logs'],
  ['logRecords', 'log_records'],
]

type ReadRecord<T> = (record: JsonObject, budget: RecordBudget) => T

/** Reads the spans of an ExportTraceServiceRequest in JSON. Throws AppError invalid_otlp. */
export function readJsonSpans(body: Buffer, take: TakeRecord<WireSpan>, group: () => void): void {
  readRequest(parsed(body), TRACES, readSpan, take, group)
}

/** Reads the records of an ExportLogsServiceRequest in JSON. Throws AppError invalid_otlp. */
export function readJsonLogs(body: Buffer, take: TakeRecord<WireLog>, group: () => void): void {
  readRequest(parsed(body), LOGS, readLog, take, group)
}

function parsed(body: Buffer): JsonObject {
  const text = body.toString('utf8')
  if (text.trim() === '') return {}
  const value = tryParse(text)
  if (!isObject(value)) throw invalid('the body is not a JSON object')
  return value
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    // Python's json module writes bare NaN, and some senders a byte order mark.
    return parseJson(text)?.value
  }
}

function invalid(why: string): AppError {
  return new AppError('invalid_otlp', { message: `The body is not a valid OTLP message: ${why}.` })
}

/**
 * Traces and logs have the same three levels: resources, scopes, records. `group` is called for each resource and each
 * scope.
 */
function readRequest<T>(
  request: JsonObject,
  [resources, scopes, records]: Levels,
  read: ReadRecord<T>,
  take: TakeRecord<T>,
  group: () => void,
): void {
  const budget = new RecordBudget()
  for (const produced of objects(request, resources)) {
    group()
    budget.reset()
    const resource = attributesOf(produced['resource'], budget)
    for (const scoped of objects(produced, scopes)) {
      group()
      const source: OtlpSource = { resource, scope: scopeOf(scoped['scope']) }
      for (const record of objects(scoped, records)) {
        budget.reset()
        take(read(record, budget), source)
      }
    }
  }
}

/**
 * A field by its lowerCamelCase name, or by its name in the .proto, which protobuf's JSON mapping requires readers to
 * accept.
 */
function field(object: JsonObject, name: string, protoName: string): JsonValue | undefined {
  return object[name] ?? object[protoName]
}

/** A list of protobuf messages; a missing or null field is read as an empty list. */
function objects(object: JsonObject, [name, protoName]: FieldName): JsonObject[] {
  const list = field(object, name, protoName) ?? []
  if (!Array.isArray(list) || !list.every(isObject)) throw invalid(`${name} is not a list of objects`)
  return list
}

function scopeOf(value: JsonValue | undefined): OtlpSource['scope'] {
  if (!isObject(value)) return {}
  const scope: OtlpSource['scope'] = {}
  if (typeof value['name'] === 'string') scope.name = value['name']
  if (typeof value['version'] === 'string') scope.version = value['version']
  return scope
}

function readSpan(span: JsonObject, budget: RecordBudget): WireSpan {
  const record: WireSpan = {
    trace_id: idOf(field(span, 'traceId', 'trace_id'), 16),
    span_id: idOf(field(span, 'spanId', 'span_id'), 8),
    parent_span_id: idOf(field(span, 'parentSpanId', 'parent_span_id'), 8),
    trace_state: textOf(field(span, 'traceState', 'trace_state')),
    name: textOf(span['name']),
    kind: enumOf(span['kind'], KINDS),
    start: microsOf(field(span, 'startTimeUnixNano', 'start_time_unix_nano')),
    end: microsOf(field(span, 'endTimeUnixNano', 'end_time_unix_nano')),
    attributes: attributesOf(span, budget),
    events: listOf(span['events']).map((event) => readEvent(event, budget)),
    links: listOf(span['links']).map((link) => readLink(link, budget)),
    status: statusOf(span['status']),
    fault: undefined,
  }
  record.fault = budget.fault
  return record
}

function readEvent(event: JsonObject, budget: RecordBudget): WireEvent {
  budget.take(0)
  return {
    name: textOf(event['name']),
    time: microsOf(field(event, 'timeUnixNano', 'time_unix_nano')),
    attributes: attributesOf(event, budget),
  }
}

function readLink(link: JsonObject, budget: RecordBudget): WireLink {
  budget.take(0)
  return {
    trace_id: idOf(field(link, 'traceId', 'trace_id'), 16),
    span_id: idOf(field(link, 'spanId', 'span_id'), 8),
    attributes: attributesOf(link, budget),
  }
}

function readLog(log: JsonObject, budget: RecordBudget): WireLog {
  const record: WireLog = {
    trace_id: idOf(field(log, 'traceId', 'trace_id'), 16),
    span_id: idOf(field(log, 'spanId', 'span_id'), 8),
    name: textOf(field(log, 'eventName', 'event_name')),
    time:
      microsOf(field(log, 'timeUnixNano', 'time_unix_nano')) ||
      microsOf(field(log, 'observedTimeUnixNano', 'observed_time_unix_nano')),
    attributes: attributesOf(log, budget),
    body: valueOf(log['body'], budget, 0),
    fault: undefined,
  }
  record.fault = budget.fault
  return record
}

/** The objects in a list; other values are left out. */
function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
  (name) => `SPAN_KIND_${name}`,
)
const CODES = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR']

function enumOf(value: JsonValue | undefined, names: readonly string[]): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return 0
  const named = names.indexOf(value)
  return named >= 0 ? named : /^\d$/.test(value) ? Number(value) : 0
}

function statusOf(value: JsonValue | undefined): WireSpan['status'] {
  if (!isObject(value)) return { code: 0 }
  const message = textOf(value['message'])
  return { code: enumOf(value['code'], CODES), ...(message === '' ? {} : { message }) }
}

/**
 * An id of `size` bytes as lower-case hex digits. OTLP's JSON has ids in hex, unlike other bytes; base64, which
 * protobuf's JSON mapping uses, is recognised by its length. Other text is returned in lower case, and the caller
 * checks whether it is a valid id.
 */
function idOf(value: JsonValue | undefined, size: number): string {
  if (typeof value !== 'string') return ''
  if (value.length >= Math.ceil((size * 4) / 3) && value.length <= Math.ceil(size / 3) * 4) {
    return Buffer.from(value, 'base64').toString('hex')
  }
  return value.slice(0, 64).toLowerCase()
}

/**
 * Converts nanoseconds since 1970, a number or decimal digits, to whole microseconds; 0 if absent, NaN if it is not a
 * time.
 */
function microsOf(value: JsonValue | undefined): number {
  if (value === undefined || value === null || value === '') return 0
  if (typeof value === 'number') return value >= 0 ? Math.round(value / 1000) : Number.NaN
  if (typeof value !== 'string') return Number.NaN
  return /^\d{1,20}$/.test(value) ? Number(value.slice(0, -3)) : Math.round(Number(value) / 1000)
}

/** The attributes of a resource, span, event, link or log record. */
function attributesOf(holder: JsonValue | undefined, budget: RecordBudget): JsonObject {
  const attributes: JsonObject = {}
  if (isObject(holder)) addAttributes(attributes, holder['attributes'], budget, 0)
  return attributes
}

function addAttributes(
  into: JsonObject,
  list: JsonValue | undefined,
  budget: RecordBudget,
  depth: number,
): void {
  if (!Array.isArray(list)) return
  for (const entry of list) {
    if (!isObject(entry)) continue
    const value = valueOf(entry['value'], budget, depth)
    if (budget.fault !== undefined) return
    setAttribute(into, textOf(entry['key']), value)
  }
}

/** Reads an AnyValue; null if it is empty, NaN or infinite, or the budget is spent. */
function valueOf(any: JsonValue | undefined, budget: RecordBudget, depth: number): JsonValue {
  if (!budget.take(depth) || any === undefined || any === null) return null
  // Some senders send the value without the wrapper.
  if (!isObject(any)) return Array.isArray(any) ? null : any
  for (const name in any) {
    const value = any[name]
    if (value === null || value === undefined) continue
    const read = READ_VALUE.get(name)
    if (read !== undefined) return read(value, budget, depth)
  }
  return null
}

type ReadValue = (value: JsonValue, budget: RecordBudget, depth: number) => JsonValue

/** Readers by the name of the AnyValue field that is set. */
const READ_VALUE: ReadonlyMap<string, ReadValue> = new Map([
  ['stringValue', stringOf],
  ['string_value', stringOf],
  ['boolValue', boolOf],
  ['bool_value', boolOf],
  ['intValue', intOf],
  ['int_value', intOf],
  ['doubleValue', doubleOf],
  ['double_value', doubleOf],
  ['arrayValue', arrayOf],
  ['array_value', arrayOf],
  ['kvlistValue', kvlistOf],
  ['kvlist_value', kvlistOf],
  ['bytesValue', textOf],
  ['bytes_value', textOf],
])

function stringOf(value: JsonValue): JsonValue {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function boolOf(value: JsonValue): JsonValue {
  return value === true || value === 'true'
}

function doubleOf(value: JsonValue): JsonValue {
  return finite(typeof value === 'string' ? Number(value) : (value as number))
}

function arrayOf(value: JsonValue, budget: RecordBudget, depth: number): JsonValue {
  const list = isObject(value) ? value['values'] : value
  const values: JsonValue[] = []
  for (const item of Array.isArray(list) ? list : []) {
    values.push(valueOf(item, budget, depth + 1))
    if (budget.fault !== undefined) break
  }
  return values
}

function kvlistOf(value: JsonValue, budget: RecordBudget, depth: number): JsonValue {
  const entries: JsonObject = {}
  if (isObject(value)) addAttributes(entries, value['values'], budget, depth + 1)
  return entries
}

function intOf(value: JsonValue): JsonValue {
  if (typeof value === 'number') return finite(value)
  if (typeof value !== 'string') return null
  const number = Number(value)
  return value !== '' && Number.isSafeInteger(number) ? number : value
}
