import type { JsonObject } from '../../schema/json.ts'
import { readScopeName, readStatus, readValue } from './otlp-proto.ts'
import {
  type IncomingSource,
  type IncomingSpan,
  MARK_PREFIX,
  type OtlpFault,
  RecordBudget,
  type TakeSpan,
} from './otlp-record.ts'
import { ProtoReader } from './proto-reader.ts'
import type { ProtoWriter } from './proto-writer.ts'

// Field numbers as in otlp-proto.ts, which reads again, and whole, what is only looked over here.
const bits = (...numbers: number[]): number => numbers.reduce((all, number) => all | (1 << number), 0)
const ONE = bits(1)
const ONLY_TWO = bits(2)
const TWO = bits(1, 2)
const ANY_VALUE = bits(1, 2, 3, 4, 5, 6, 7)
const SPAN = bits(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15)
const EVENT = bits(1, 2, 3)
const LINK = bits(1, 2, 4)

/**
 * The spans of an ExportTraceServiceRequest as they are to be stored: checked down to the last field, but left as
 * the bytes that came. Throws AppError invalid_otlp.
 */
export function scanSpans(body: Buffer, take: TakeSpan, group: () => void): void {
  const reader = new ProtoReader(body)
  const scan: Scan = { reader, budget: new RecordBudget(), take, group }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) scanResource(scan)
    else reader.skip(tag, ONE)
  }
}

interface Scan {
  reader: ProtoReader
  budget: RecordBudget
  take: TakeSpan
  group: () => void
}

/** The resource may come after what it produced, so its message is looked over twice. */
function scanResource(scan: Scan): void {
  const { reader, budget } = scan
  scan.group()
  const outer = reader.open()
  const start = reader.at
  const marks: JsonObject = {}
  budget.reset()
  const resource = fieldsOne(reader, () => scanAttributes(reader, budget, 0, marks))
  reader.at = start
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 18) scanScope(scan, resource, marks)
    else reader.skip(tag, ONLY_TWO)
  }
  reader.close(outer)
}

/** Each field 1 of the open message, tag and all; the other fields are passed over. */
function fieldsOne(reader: ProtoReader, read: () => void): Uint8Array {
  const found: Uint8Array[] = []
  for (let from = reader.at, tag = reader.tag(); tag !== 0; from = reader.at, tag = reader.tag()) {
    if (tag === 10) {
      read()
      found.push(reader.buffer.subarray(from, reader.at))
    } else reader.skip(tag, ONE)
  }
  return found.length === 1 ? found[0]! : Buffer.concat(found)
}

function scanScope(scan: Scan, resource: Uint8Array, marks: JsonObject): void {
  const { reader, budget } = scan
  scan.group()
  const outer = reader.open()
  const start = reader.at
  const source: IncomingSource = {
    resource,
    scope: fieldsOne(reader, () => readScopeName(reader, {})),
    marks,
  }
  reader.at = start
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 18) {
      budget.reset()
      scan.take(new ScannedSpan(reader, budget), source)
    } else reader.skip(tag, ONLY_TWO)
  }
  reader.close(outer)
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
  /** Where the attributes in `marks` are. */
  readonly #marked: { key: string; from: number; to: number }[] = []

  /** Looks over the span that comes next. */
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
      case 10:
        this.trace_id = reader.hex()
        break
      case 18:
        this.span_id = reader.hex()
        break
      case 34:
        this.parent_span_id = reader.hex()
        break
      case 42:
        this.name = reader.string()
        break
      case 57:
        this.start = reader.micros()
        break
      case 65:
        this.end = reader.micros()
        break
      case 74: {
        const key = scanAttribute(reader, budget, 0, this.marks)
        if (key !== undefined) this.#marked.push({ key, from, to: reader.at })
        break
      }
      case 90:
        scanMessage(reader, budget, [9, 18, 26], EVENT)
        break
      case 106:
        scanMessage(reader, budget, [10, 18, 34], LINK)
        break
      case 122:
        readStatus(reader, { code: 0 })
        break
      case 26:
        reader.skipBytes()
        break
      case 48:
        reader.int64()
        break
      default:
        reader.skip(tag, SPAN)
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

/** An event or a link: `plain` are the tags of its fields, the last one that of its attributes. */
function scanMessage(
  reader: ProtoReader,
  budget: RecordBudget,
  [first, second, attributes]: readonly [number, number, number],
  known: number,
): void {
  const outer = reader.open()
  if (budget.take(0)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === attributes) scanAttribute(reader, budget, 0)
      else reader.skip(tag, tag === first || tag === second ? 0 : known)
    }
  }
  reader.close(outer)
}

/** A message whose field 1 is a list of attributes: a resource, or a kvlist. */
function scanAttributes(reader: ProtoReader, budget: RecordBudget, depth: number, marks?: JsonObject): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) scanAttribute(reader, budget, depth, marks)
    else reader.skip(tag, ONE)
  }
  reader.close(outer)
}

/** Puts the attribute into `marks` if its name begins as those do, and then gives back the name. */
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
    if (tag === 10) key = markOf(reader)
    else if (tag === 18) {
      value = reader.at
      scanValue(reader, budget, depth)
    } else reader.skip(tag, TWO)
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

/** The string that comes next, if it begins with MARK_PREFIX. */
function markOf(reader: ProtoReader): string | undefined {
  const from = reader.skipBytes()
  if (reader.buffer[from] !== FIRST || reader.at - from < MARK_PREFIX.length) return undefined
  const key = reader.buffer.toString('utf8', from, reader.at)
  return key.startsWith(MARK_PREFIX) ? key : undefined
}

/** As readValue of otlp-proto.ts accounts for values, so that what is stored can be read. */
function scanValue(reader: ProtoReader, budget: RecordBudget, depth: number): void {
  const outer = reader.open()
  if (budget.take(depth)) {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === 10 || tag === 58) reader.skipBytes()
      else if (tag === 42) scanList(reader, budget, depth + 1)
      else if (tag === 50) scanAttributes(reader, budget, depth + 1)
      else reader.skip(tag, tag === 16 || tag === 24 || tag === 33 ? 0 : ANY_VALUE)
    }
  }
  reader.close(outer)
}

function scanList(reader: ProtoReader, budget: RecordBudget, depth: number): void {
  const outer = reader.open()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10 && budget.fault === undefined) scanValue(reader, budget, depth)
    else reader.skip(tag, tag === 10 ? 0 : ONE)
  }
  reader.close(outer)
}
