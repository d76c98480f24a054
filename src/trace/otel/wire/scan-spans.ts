import type { JsonObject } from '../../../schema/json.ts'
import { readScopeName, readStatus, readValue } from './proto/decode.ts'
import {
  type IncomingSource,
  type IncomingSpan,
  MARK_PREFIX,
  type OtlpFault,
  RecordBudget,
  type TakeSpan,
} from './record.ts'
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
  LINK,
  LINK_FIELDS,
  RESOURCE_GROUP,
  SCOPE_GROUP,
  SPAN,
  SPAN_FIELDS,
} from './proto/fields.ts'
import { readFields, readGroups } from './proto/groups.ts'
import { ProtoReader } from './proto/reader.ts'
import type { ProtoWriter } from './proto/writer.ts'

/**
 * Reads the spans of an ExportTraceServiceRequest for storing: every field is checked, and the bytes stay unchanged.
 * Throws AppError invalid_otlp.
 */
export function scanSpans(body: Buffer, take: TakeSpan, group: () => void): void {
  const budget = new RecordBudget()
  readGroups<Omit<IncomingSource, 'scope'>, IncomingSource>(new ProtoReader(body), {
    group,
    resource(reader) {
      const marks: JsonObject = {}
      budget.reset()
      const scan = (): void => scanAttributes(reader, budget, 0, marks)
      return { resource: readFields(reader, RESOURCE_GROUP.resource, scan), marks }
    },
    scope(reader, { resource, marks }) {
      const scope = readFields(reader, SCOPE_GROUP.scope, () => readScopeName(reader, {}))
      return { resource, scope, marks }
    },
    record(reader, source) {
      budget.reset()
      take(new ScannedSpan(reader, budget), source)
    },
  })
}

/** A span as a range of the body. */
class ScannedSpan implements IncomingSpan {
  trace_id = ''
  span_id = ''
  parent_span_id = ''
  name = ''
  start = 0
  end = 0
  readonly marks: JsonObject = {}
  readonly fault: OtlpFault | undefined
  readonly #body: Buffer
  readonly #from: number
  readonly #to: number
  /** Positions of the attributes in `marks`. */
  readonly #marked: { key: string; from: number; to: number }[] = []

  /** Scans the next span. */
  constructor(reader: ProtoReader, budget: RecordBudget) {
    const outer = reader.open()
    this.#body = reader.buffer
    this.#from = reader.at
    for (let from = reader.at, tag = reader.tag(); tag !== 0; from = reader.at, tag = reader.tag())
      this.#scanField(reader, tag, from, budget)
    this.#to = reader.at
    reader.close(outer)
    this.fault = budget.fault
  }

  #scanField(reader: ProtoReader, tag: number, from: number, budget: RecordBudget): void {
    switch (tag) {
      case SPAN.trace_id:
        this.trace_id = reader.hex()
        break
      case SPAN.span_id:
        this.span_id = reader.hex()
        break
      case SPAN.parent_span_id:
        this.parent_span_id = reader.hex()
        break
      case SPAN.name:
        this.name = reader.string()
        break
      case SPAN.start_time:
        this.start = reader.micros()
        break
      case SPAN.end_time:
        this.end = reader.micros()
        break
      case SPAN.attribute: {
        const key = scanAttribute(reader, budget, 0, this.marks)
        if (key !== undefined) this.#marked.push({ key, from, to: reader.at })
        break
      }
      case SPAN.event:
        scanMessage(reader, budget, EVENT.attribute, EVENT.time, EVENT.name, EVENT_FIELDS)
        break
      case SPAN.link:
        scanMessage(reader, budget, LINK.attribute, LINK.trace_id, LINK.span_id, LINK_FIELDS)
        break
      case SPAN.status:
        readStatus(reader, { code: 0 })
        break
      case SPAN.trace_state:
        reader.skipBytes()
        break
      case SPAN.kind:
        reader.int64()
        break
      default:
        reader.skip(tag, SPAN_FIELDS)
    }
  }

  write(out: ProtoWriter, without: string | undefined): void {
    let at = this.#from
    for (const { key, from, to } of this.#marked) {
      if (key !== without) continue
      out.raw(this.#body.subarray(at, from))
      at = to
    }
    out.raw(this.#body.subarray(at, this.#to))
  }
}

/**
 * Scans an event or a link; the arguments are the tags of its attributes and of its two other fields, and the numbers
 * of all three.
 */
function scanMessage(
  reader: ProtoReader,
  budget: RecordBudget,
  attribute: number,
  first: number,
  second: number,
  known: number,
): void {
  const outer = reader.open()
  if (budget.take(0)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === attribute) scanAttribute(reader, budget, 0)
      else reader.skip(tag, tag === first || tag === second ? 0 : known)
    }
  }
  reader.close(outer)
}

/** Scans a message whose field 1 is a list of attributes: a resource, or a kvlist. */
function scanAttributes(reader: ProtoReader, budget: RecordBudget, depth: number, marks?: JsonObject): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === KEY_VALUE_LIST.key_value) scanAttribute(reader, budget, depth, marks)
    else reader.skip(tag, KEY_VALUE_LIST_FIELDS)
  }
  reader.close(outer)
}

/** Scans an attribute. If its name begins with MARK_PREFIX, adds it to `marks` and returns the name. */
function scanAttribute(
  reader: ProtoReader,
  budget: RecordBudget,
  depth: number,
  marks?: JsonObject,
): string | undefined {
  const outer = reader.open()
  let key: string | undefined
  let value = -1
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === KEY_VALUE.key) key = markOf(reader)
    else if (tag === KEY_VALUE.value) {
      value = reader.at
      scanValue(reader, budget, depth)
    } else reader.skip(tag, KEY_VALUE_FIELDS)
  }
  const mark = marks === undefined ? undefined : key
  if (mark !== undefined && value >= 0) {
    reader.at = value
    marks![mark] = readValue(reader, new RecordBudget(), depth)
  }
  reader.close(outer)
  return mark
}

const FIRST = MARK_PREFIX.charCodeAt(0)

/** Reads the next string if it begins with MARK_PREFIX. */
function markOf(reader: ProtoReader): string | undefined {
  const from = reader.skipBytes()
  if (reader.buffer[from] !== FIRST || reader.at - from < MARK_PREFIX.length) return undefined
  const key = reader.buffer.toString('utf8', from, reader.at)
  return key.startsWith(MARK_PREFIX) ? key : undefined
}

/** Scans a value, and counts values as readValue does, so that everything stored can be read. */
function scanValue(reader: ProtoReader, budget: RecordBudget, depth: number): void {
  const outer = reader.open()
  if (budget.take(depth)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === ANY_VALUE.string || tag === ANY_VALUE.bytes) reader.skipBytes()
      else if (tag === ANY_VALUE.array) scanList(reader, budget, depth + 1)
      else if (tag === ANY_VALUE.key_value_list) scanAttributes(reader, budget, depth + 1)
      else if (tag === ANY_VALUE.bool || tag === ANY_VALUE.int || tag === ANY_VALUE.double)
        reader.skip(tag, 0)
      else reader.skip(tag, ANY_VALUE_FIELDS)
    }
  }
  reader.close(outer)
}

function scanList(reader: ProtoReader, budget: RecordBudget, depth: number): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === ARRAY_VALUE.value && budget.fault === undefined) scanValue(reader, budget, depth)
    else reader.skip(tag, tag === ARRAY_VALUE.value ? 0 : ARRAY_VALUE_FIELDS)
  }
  reader.close(outer)
}
