import { isObject, type JsonValue } from '../../schema/json.ts'
import type { Fault } from './decoded.ts'
import { jsonFault, type Op, tooLargeFault, unprocessable } from './faults.ts'
import { BIG_FIELDS, type BigField } from '../rows/fragment.ts'
import {
  atObject,
  endJson,
  type JsonCursor,
  JsonScanError,
  objectMembers,
  startJson,
  takeValue,
} from '../json/json-members.ts'
import { type ParsedJson, parseJson } from '../json/json-text.ts'
import { isEmptyJson } from '../json/loose-json.ts'
import { checkHead, type HeadFacts } from '../rows/trace-run-head.ts'

const EMPTY = Buffer.alloc(0)
const EMPTY_HEAD = Buffer.from('{}')
/** Members of a record that are not stored: copies of other TraceRuns, and internal data of the client. */
const IGNORED: ReadonlySet<string> = new Set(['child_runs', 'replicas'])
const BIG: ReadonlySet<string> = new Set(BIG_FIELDS)

/** One create or update of one TraceRun, gathered from its pieces. Byte fields are views of the body. */
export interface Operation {
  op: Op
  /** Undefined if `sent_id` is not a uuid, so that the operation cannot be stored. */
  run_id: string | undefined
  /** The id as the client wrote it. */
  sent_id: string
  /** The JSON texts of the record without its big fields; one for each time that the record was sent. */
  heads: Buffer[]
  /** Whether the operation has an end_time. */
  ended: boolean
  /** Whether a record of the operation has any value besides the id. */
  hasValues: boolean
  session_id: string | null
  session_name: string | null
  fields: Record<BigField, Buffer>
  /** JSON of its attachments. */
  attachments: Buffer
  /** Why the operation cannot be stored, in the order in which the reasons were found. */
  faults: Fault[]
}

/** An operation without any content yet. */
export function newOperation(op: Op, runId: string | undefined, sentId: string): Operation {
  return {
    op,
    run_id: runId,
    sent_id: sentId,
    heads: [],
    ended: false,
    hasValues: false,
    session_id: null,
    session_name: null,
    fields: { inputs: EMPTY, outputs: EMPTY, events: EMPTY, extra: EMPTY, error: EMPTY, serialized: EMPTY },
    attachments: EMPTY,
    faults: [],
  }
}

/**
 * Adds a big field that was sent as a separate part. A later part replaces an earlier one, except that an empty one
 * replaces nothing, and that `extra` is merged.
 */
export function addField(operation: Operation, field: BigField, bytes: Buffer): void {
  if (bytes.length === 0 || isNull(bytes)) return
  const before = operation.fields[field]
  if (before.length > 0 && isEmptyJson(bytes)) return
  operation.fields[field] = field === 'extra' && before.length > 0 ? mergeExtra(before, bytes) : bytes
}

/** `extra` that was sent twice for one operation, merged as that of two operations is. */
function mergeExtra(before: Buffer, now: Buffer): Buffer {
  try {
    return mergeObjects([before, now], (key, [first, second]) =>
      key !== 'metadata' || !isObjectText(first)
        ? second
        : isObjectText(second)
          ? mergeObjects([first, second])
          : first,
    )
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error
    return before
  }
}

/**
 * Adds a record that was sent as a separate part; `bytes` is its JSON text, which is kept as sent. Big fields inside it
 * are split off unparsed. A field that was sent as a separate part replaces the same field of the record.
 */
export function addRecord(operation: Operation, bytes: Buffer, maxFieldBytes: number): void {
  const parsed = parseJson(bytes.toString('utf8'))
  if (parsed !== undefined && !holdsMore(parsed.value)) {
    takeHead(operation, bytes, parsed)
    return
  }
  try {
    const cursor = startJson(bytes)
    const record = splitRecord(cursor)
    endJson(cursor)
    addSplitRecord(operation, record, maxFieldBytes)
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error
    operation.faults.push(jsonFault('The run'))
  }
}

/** Whether a parsed record has members that must not be in a head. */
function holdsMore(value: JsonValue): boolean {
  if (!isObject(value)) return false
  for (const field of BIG_FIELDS) if (value[field] !== undefined) return true
  for (const name of IGNORED) {
    const ignored = value[name]
    if (ignored !== undefined && !(Array.isArray(ignored) && ignored.length === 0)) return true
  }
  return false
}

/** A record cut into its big fields and the rest. */
export interface SplitRecord {
  head: Buffer
  /** The parsed head; undefined if it is not JSON. */
  parsed: ParsedJson | undefined
  fields: [BigField, Buffer][]
}

/** Walks over a record and splits it byte for byte; the big fields are not parsed. Throws JsonScanError. */
export function splitRecord(cursor: JsonCursor): SplitRecord {
  const { buffer } = cursor
  const fields: [BigField, Buffer][] = []
  const kept: [from: number, to: number][] = []
  let adjoining = false
  for (const { key, start } of objectMembers(cursor)) {
    const value = takeValue(cursor)
    const isBig = BIG.has(key)
    if (isBig) fields.push([key as BigField, value])
    const keep = !isBig && !IGNORED.has(key)
    if (keep && adjoining) kept[kept.length - 1]![1] = cursor.at
    else if (keep) kept.push([start, cursor.at])
    adjoining = keep
  }
  const pieces = kept.map(([from, to]) => buffer.toString('latin1', from, to))
  const head = Buffer.from(`{${pieces.join(',')}}`, 'latin1')
  return { head, parsed: parseJson(head.toString('utf8')), fields }
}

/** Adds a split record. Members of a second record replace those of the first unless they are null. */
export function addSplitRecord(operation: Operation, record: SplitRecord, maxFieldBytes: number): void {
  for (const [field, value] of record.fields) {
    if (value.length > maxFieldBytes) operation.faults.push(tooLargeFault(field, value.length, maxFieldBytes))
    else if (operation.heads.length > 0 || operation.fields[field].length === 0)
      addField(operation, field, value)
  }
  const size = record.head.length
  if (size > maxFieldBytes) operation.faults.push(tooLargeFault(null, size, maxFieldBytes))
  takeHead(operation, record.head, record.parsed)
}

function takeHead(operation: Operation, bytes: Buffer, parsed: ParsedJson | undefined): void {
  const checked = checkParsed(operation, parsed)
  if (!('ended' in checked)) {
    operation.faults.push(...checked)
    return
  }
  if (parsed === undefined || operation.faults.length > 0) return
  operation.heads.push(parsed.repaired ? Buffer.from(parsed.text) : bytes)
  operation.ended ||= checked.ended
  operation.hasValues ||= hasMore(parsed.value)
  operation.session_id = checked.session_id ?? operation.session_id
  operation.session_name = checked.session_name ?? operation.session_name
}

function checkParsed(operation: Operation, parsed: ParsedJson | undefined): HeadFacts | readonly Fault[] {
  if (parsed === undefined) return [jsonFault('The run')]
  if (!isObject(parsed.value)) return [unprocessable('invalid_field', null, 'The run must be a JSON object.')]
  return checkHead(parsed.value, operation.op, operation.run_id, operation.sent_id)
}

/** Whether a record has any value besides its id. */
export function hasMore(record: JsonValue): boolean {
  return isObject(record) && Object.entries(record).some(([name, value]) => name !== 'id' && value !== null)
}

/** Whether the operation is an update that changes nothing. */
export function isEmptyUpdate({ op, hasValues, fields, attachments }: Operation): boolean {
  if (op === 'post' || hasValues || attachments.length > 0) return false
  return BIG_FIELDS.every((field) => fields[field].length === 0)
}

/** The record, `{}` if none was sent. If several were sent, members of a later record count unless they are empty. */
export function headOf({ heads }: Operation): Buffer {
  return heads.length < 2 ? (heads[0] ?? EMPTY_HEAD) : mergeObjects(heads)
}

/**
 * Merges JSON objects as texts. Of values under the same key the later one counts, or the result of `join`; an empty
 * one does not. Throws JsonScanError.
 */
function mergeObjects(
  objects: readonly Buffer[],
  join: (key: string, values: [Buffer, Buffer]) => Buffer = (_key, [, second]) => second,
): Buffer {
  const merged = new Map<string, Buffer>()
  for (const object of objects) {
    const cursor = startJson(object)
    for (const { key } of objectMembers(cursor)) {
      const value = takeValue(cursor)
      const before = merged.get(key)
      if (before === undefined || isEmptyJson(before)) merged.set(key, value)
      else if (!isEmptyJson(value)) merged.set(key, join(key, [before, value]))
    }
    endJson(cursor)
  }
  const pieces = [...merged].flatMap(([key, value], i) => [
    Buffer.from(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    value,
  ])
  return Buffer.concat([...(merged.size === 0 ? [Buffer.from('{')] : pieces), Buffer.from('}')])
}

function isObjectText(bytes: Buffer): boolean {
  return atObject(startJson(bytes))
}

function isNull(bytes: Buffer): boolean {
  return (
    bytes.length === 4 && bytes[0] === 0x6e && bytes[1] === 0x75 && bytes[2] === 0x6c && bytes[3] === 0x6c
  )
}
