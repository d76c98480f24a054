import type { JsonObject, JsonValue } from '../../schema/json.ts'
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
} from './otlp-record.ts'
import { ProtoReader } from './proto-reader.ts'

// Field numbers are those of opentelemetry/proto (collector/trace/v1, trace/v1, logs/v1, common/v1, resource/v1).
// A case label is `number << 3 | wire type`.

/** Bits of the field numbers that a message reads: with another wire type they are faults. */
function fields(...numbers: number[]): number {
  return numbers.reduce((bits, number) => bits | (1 << number), 0)
}

const ONE = fields(1)
const ONLY_TWO = fields(2)
const TWO = fields(1, 2)
const ANY_VALUE = fields(1, 2, 3, 4, 5, 6, 7)
const SPAN = fields(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15)
const EVENT = fields(1, 2, 3)
const LINK = fields(1, 2, 4)
const STATUS = fields(2, 3)
const LOG = fields(1, 5, 6, 9, 10, 11, 12)

/** Reads one record, whose message comes next. */
type ReadRecord<T> = (reader: ProtoReader, budget: RecordBudget) => T

/** The spans of an ExportTraceServiceRequest. Throws AppError invalid_otlp. */
export function readProtoSpans(body: Buffer, take: TakeRecord<WireSpan>, group: () => void): void {
  readRequest(new ProtoReader(body), readSpan, take, group)
}

/** The records of an ExportLogsServiceRequest. Throws AppError invalid_otlp. */
export function readProtoLogs(body: Buffer, take: TakeRecord<WireLog>, group: () => void): void {
  readRequest(new ProtoReader(body), readLog, take, group)
}

/** Traces and logs have the same three levels: resources, scopes, records. `group` is called for each of the former. */
function readRequest<T>(
  reader: ProtoReader,
  read: ReadRecord<T>,
  take: TakeRecord<T>,
  group: () => void,
): void {
  const budget = new RecordBudget()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) {
      group()
      readResource(reader, budget, read, take, group)
    } else reader.skip(tag, ONE)
  }
}

/** The resource may come after what it produced, so its message is read twice. */
function readResource<T>(
  reader: ProtoReader,
  budget: RecordBudget,
  read: ReadRecord<T>,
  take: TakeRecord<T>,
  group: () => void,
): void {
  const outer = reader.open()
  const start = reader.at
  const resource: JsonObject = {}
  budget.reset()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) readAttributes(reader, resource, budget)
    else reader.skip(tag, ONE)
  }
  reader.at = start
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 18) {
      group()
      readScope(reader, resource, budget, read, take)
    } else reader.skip(tag, ONLY_TWO)
  }
  reader.close(outer)
}

/** A message whose field 1 is a list of attributes: a resource, or a kvlist. */
function readAttributes(reader: ProtoReader, into: JsonObject, budget: RecordBudget, depth = 0): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) readAttribute(reader, into, budget, depth)
    else reader.skip(tag, ONE)
  }
  reader.close(outer)
}

function readScope<T>(
  reader: ProtoReader,
  resource: JsonObject,
  budget: RecordBudget,
  read: ReadRecord<T>,
  take: TakeRecord<T>,
): void {
  const outer = reader.open()
  const start = reader.at
  const source: OtlpSource = { resource, scope: {} }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) readScopeName(reader, source.scope)
    else reader.skip(tag, ONE)
  }
  reader.at = start
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 18) {
      budget.reset()
      take(read(reader, budget), source)
    } else reader.skip(tag, ONLY_TWO)
  }
  reader.close(outer)
}

export function readScopeName(reader: ProtoReader, scope: OtlpSource['scope']): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) scope.name = reader.string()
    else if (tag === 18) scope.version = reader.string()
    else reader.skip(tag, TWO)
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
    case 10:
      span.trace_id = reader.hex()
      break
    case 18:
      span.span_id = reader.hex()
      break
    case 26:
      span.trace_state = reader.string()
      break
    case 34:
      span.parent_span_id = reader.hex()
      break
    case 42:
      span.name = reader.string()
      break
    case 48:
      span.kind = Number(reader.int64())
      break
    case 57:
      span.start = reader.micros()
      break
    case 65:
      span.end = reader.micros()
      break
    case 74:
      readAttribute(reader, span.attributes, budget, 0)
      break
    case 90:
      readEvent(reader, span.events, budget)
      break
    case 106:
      readLink(reader, span.links, budget)
      break
    case 122:
      readStatus(reader, span.status)
      break
    default:
      reader.skip(tag, SPAN)
  }
}

function readEvent(reader: ProtoReader, events: WireEvent[], budget: RecordBudget): void {
  const event: WireEvent = { name: '', time: 0, attributes: {} }
  const outer = reader.open()
  if (budget.take(0)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === 9) event.time = reader.micros()
      else if (tag === 18) event.name = reader.string()
      else if (tag === 26) readAttribute(reader, event.attributes, budget, 0)
      else reader.skip(tag, EVENT)
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
      if (tag === 10) link.trace_id = reader.hex()
      else if (tag === 18) link.span_id = reader.hex()
      else if (tag === 34) readAttribute(reader, link.attributes, budget, 0)
      else reader.skip(tag, LINK)
    }
    links.push(link)
  }
  reader.close(outer)
}

export function readStatus(reader: ProtoReader, status: WireSpan['status']): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 18) status.message = reader.string()
    else if (tag === 24) status.code = Number(reader.int64())
    else reader.skip(tag, STATUS)
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
    if (tag === 9) log.time = reader.micros()
    else if (tag === 42) log.body = readValue(reader, budget, 0)
    else if (tag === 50) readAttribute(reader, log.attributes, budget, 0)
    else if (tag === 74) log.trace_id = reader.hex()
    else if (tag === 82) log.span_id = reader.hex()
    else if (tag === 89) observed = reader.micros()
    else if (tag === 98) log.name = reader.string()
    else reader.skip(tag, LOG)
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
    if (tag === 10) key = reader.string()
    else if (tag === 18) value = readValue(reader, budget, depth)
    else reader.skip(tag, TWO)
  }
  reader.close(outer)
  if (budget.fault === undefined) setAttribute(into, key, value)
}

/** The AnyValue that comes next; null when it is empty, NaN or infinite, and once the budget is spent. */
export function readValue(reader: ProtoReader, budget: RecordBudget, depth: number): JsonValue {
  let value: JsonValue = null
  const outer = reader.open()
  if (budget.take(depth)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === 10) value = reader.string()
      else if (tag === 16) value = reader.bool()
      else if (tag === 24) value = reader.int64()
      else if (tag === 33) value = finite(reader.double())
      else if (tag === 42) value = readList(reader, budget, depth + 1)
      else if (tag === 50) readAttributes(reader, (value = {}), budget, depth + 1)
      else if (tag === 58) value = reader.base64()
      else reader.skip(tag, ANY_VALUE)
    }
  }
  reader.close(outer)
  return value
}

function readList(reader: ProtoReader, budget: RecordBudget, depth: number): JsonValue[] {
  const list: JsonValue[] = []
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag !== 10) reader.skip(tag, ONE)
    else if (budget.fault === undefined) list.push(readValue(reader, budget, depth))
    else reader.skip(tag, 0)
  }
  reader.close(outer)
  return list
}
