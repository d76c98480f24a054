import type { JsonObject, JsonValue } from '../../../../schema/json.ts'
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
} from '../record.ts'
import {
  ANY_VALUE,
  ANY_VALUE_FIELDS,
  ARRAY_VALUE,
  ARRAY_VALUE_FIELDS,
  EVENT,
  EVENT_FIELDS,
  KEY_VALUE,
  KEY_VALUE_FIELDS,
  KEY_VALUE_LIST,
  KEY_VALUE_LIST_FIELDS,
  knownFields,
  LINK,
  LINK_FIELDS,
  LOG_RECORD,
  RESOURCE_GROUP,
  SCOPE,
  SCOPE_GROUP,
  SPAN,
  SPAN_FIELDS,
  STATUS,
} from './fields.ts'
import { readFields, readGroups } from './groups.ts'
import { ProtoReader } from './reader.ts'

const SCOPE_FIELDS = knownFields(SCOPE)
const STATUS_FIELDS = knownFields(STATUS)
const LOG_FIELDS = knownFields(LOG_RECORD)

/** Reads one record, whose message is next in the buffer. */
type ReadRecord<T> = (reader: ProtoReader, budget: RecordBudget) => T

/** Reads the spans of an ExportTraceServiceRequest. Throws AppError invalid_otlp. */
export function readProtoSpans(body: Buffer, take: TakeRecord<WireSpan>, group: () => void): void {
  readRecords(body, readSpan, take, group)
}

/** Reads the records of an ExportLogsServiceRequest. Throws AppError invalid_otlp. */
export function readProtoLogs(body: Buffer, take: TakeRecord<WireLog>, group: () => void): void {
  readRecords(body, readLog, take, group)
}

/** `group` is called for each resource and each scope. */
function readRecords<T>(body: Buffer, read: ReadRecord<T>, take: TakeRecord<T>, group: () => void): void {
  const budget = new RecordBudget()
  readGroups<JsonObject, OtlpSource>(new ProtoReader(body), {
    group,
    resource(reader) {
      const resource: JsonObject = {}
      budget.reset()
      readFields(reader, RESOURCE_GROUP.resource, () => readAttributes(reader, resource, budget))
      return resource
    },
    scope(reader, resource) {
      const scope: OtlpSource['scope'] = {}
      readFields(reader, SCOPE_GROUP.scope, () => readScopeName(reader, scope))
      return { resource, scope }
    },
    record(reader, source) {
      budget.reset()
      take(read(reader, budget), source)
    },
  })
}

/** Reads a message whose field 1 is a list of attributes: a resource, or a kvlist. */
function readAttributes(reader: ProtoReader, into: JsonObject, budget: RecordBudget, depth = 0): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === KEY_VALUE_LIST.key_value) readAttribute(reader, into, budget, depth)
    else reader.skip(tag, KEY_VALUE_LIST_FIELDS)
  }
  reader.close(outer)
}

export function readScopeName(reader: ProtoReader, scope: OtlpSource['scope']): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === SCOPE.name) scope.name = reader.string()
    else if (tag === SCOPE.version) scope.version = reader.string()
    else reader.skip(tag, SCOPE_FIELDS)
  }
  reader.close(outer)
}

function readSpan(reader: ProtoReader, budget: RecordBudget): WireSpan {
  const span: WireSpan = {
    trace_id: '',
    span_id: '',
    parent_span_id: '',
    trace_state: '',
    name: '',
    kind: 0,
    start: 0,
    end: 0,
    attributes: {},
    events: [],
    links: [],
    status: { code: 0 },
    fault: undefined,
  }
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) readSpanField(reader, tag, span, budget)
  reader.close(outer)
  span.fault = budget.fault
  return span
}

function readSpanField(reader: ProtoReader, tag: number, span: WireSpan, budget: RecordBudget): void {
  switch (tag) {
    case SPAN.trace_id:
      span.trace_id = reader.hex()
      break
    case SPAN.span_id:
      span.span_id = reader.hex()
      break
    case SPAN.trace_state:
      span.trace_state = reader.string()
      break
    case SPAN.parent_span_id:
      span.parent_span_id = reader.hex()
      break
    case SPAN.name:
      span.name = reader.string()
      break
    case SPAN.kind:
      span.kind = Number(reader.int64())
      break
    case SPAN.start_time:
      span.start = reader.micros()
      break
    case SPAN.end_time:
      span.end = reader.micros()
      break
    case SPAN.attribute:
      readAttribute(reader, span.attributes, budget, 0)
      break
    case SPAN.event:
      readEvent(reader, span.events, budget)
      break
    case SPAN.link:
      readLink(reader, span.links, budget)
      break
    case SPAN.status:
      readStatus(reader, span.status)
      break
    default:
      reader.skip(tag, SPAN_FIELDS)
  }
}

function readEvent(reader: ProtoReader, events: WireEvent[], budget: RecordBudget): void {
  const event: WireEvent = { name: '', time: 0, attributes: {} }
  const outer = reader.open()
  if (budget.take(0)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === EVENT.time) event.time = reader.micros()
      else if (tag === EVENT.name) event.name = reader.string()
      else if (tag === EVENT.attribute) readAttribute(reader, event.attributes, budget, 0)
      else reader.skip(tag, EVENT_FIELDS)
    }
    events.push(event)
  }
  reader.close(outer)
}

function readLink(reader: ProtoReader, links: WireLink[], budget: RecordBudget): void {
  const link: WireLink = { trace_id: '', span_id: '', attributes: {} }
  const outer = reader.open()
  if (budget.take(0)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === LINK.trace_id) link.trace_id = reader.hex()
      else if (tag === LINK.span_id) link.span_id = reader.hex()
      else if (tag === LINK.attribute) readAttribute(reader, link.attributes, budget, 0)
      else reader.skip(tag, LINK_FIELDS)
    }
    links.push(link)
  }
  reader.close(outer)
}

export function readStatus(reader: ProtoReader, status: WireSpan['status']): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === STATUS.message) status.message = reader.string()
    else if (tag === STATUS.code) status.code = Number(reader.int64())
    else reader.skip(tag, STATUS_FIELDS)
  }
  reader.close(outer)
}

function readLog(reader: ProtoReader, budget: RecordBudget): WireLog {
  const log: WireLog = {
    trace_id: '',
    span_id: '',
    name: '',
    time: 0,
    attributes: {},
    body: null,
    fault: undefined,
  }
  let observed = 0
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === LOG_RECORD.time) log.time = reader.micros()
    else if (tag === LOG_RECORD.body) log.body = readValue(reader, budget, 0)
    else if (tag === LOG_RECORD.attribute) readAttribute(reader, log.attributes, budget, 0)
    else if (tag === LOG_RECORD.trace_id) log.trace_id = reader.hex()
    else if (tag === LOG_RECORD.span_id) log.span_id = reader.hex()
    else if (tag === LOG_RECORD.observed_time) observed = reader.micros()
    else if (tag === LOG_RECORD.event_name) log.name = reader.string()
    else reader.skip(tag, LOG_FIELDS)
  }
  reader.close(outer)
  if (log.time === 0) log.time = observed
  log.fault = budget.fault
  return log
}

function readAttribute(reader: ProtoReader, into: JsonObject, budget: RecordBudget, depth: number): void {
  let key = ''
  let value: JsonValue = null
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === KEY_VALUE.key) key = reader.string()
    else if (tag === KEY_VALUE.value) value = readValue(reader, budget, depth)
    else reader.skip(tag, KEY_VALUE_FIELDS)
  }
  reader.close(outer)
  if (budget.fault === undefined) setAttribute(into, key, value)
}

/** Reads the next AnyValue; null if it is empty, NaN or infinite, or the budget is spent. */
export function readValue(reader: ProtoReader, budget: RecordBudget, depth: number): JsonValue {
  let value: JsonValue = null
  const outer = reader.open()
  if (budget.take(depth)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === ANY_VALUE.string) value = reader.string()
      else if (tag === ANY_VALUE.bool) value = reader.bool()
      else if (tag === ANY_VALUE.int) value = reader.int64()
      else if (tag === ANY_VALUE.double) value = finite(reader.double())
      else if (tag === ANY_VALUE.array) value = readList(reader, budget, depth + 1)
      else if (tag === ANY_VALUE.key_value_list) readAttributes(reader, (value = {}), budget, depth + 1)
      else if (tag === ANY_VALUE.bytes) value = reader.base64()
      else reader.skip(tag, ANY_VALUE_FIELDS)
    }
  }
  reader.close(outer)
  return value
}

function readList(reader: ProtoReader, budget: RecordBudget, depth: number): JsonValue[] {
  const list: JsonValue[] = []
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag !== ARRAY_VALUE.value) reader.skip(tag, ARRAY_VALUE_FIELDS)
    else if (budget.fault === undefined) list.push(readValue(reader, budget, depth))
    else reader.skip(tag, 0)
  }
  reader.close(outer)
  return list
}
