import { AppError } from '../../base/errors.ts'
import { isObject, type JsonValue } from '../../schema/json.ts'
import { incompleteFault, jsonFault, type Op, unprocessable } from './faults.ts'
import type { Operations } from './operations.ts'
import { addSplitRecord, hasMore, type SplitRecord, splitRecord } from './record.ts'
import type { Fault, RequestHead } from './decoded.ts'
import { checkHead } from '../rows/trace-run-head.ts'
import { parseDottedOrder } from '../derive/lineage/dotted-order.ts'
import {
  atArray,
  atObject,
  elements,
  endJson,
  type JsonCursor,
  JsonScanError,
  objectMembers,
  startJson,
  takeValue,
} from '../json/json-members.ts'

/**
 * Gathers the operations of a JSON body: `{post, patch}`, one record (`POST /runs`), or the changes to the TraceRun
 * that the path names. If the body is known to be truncated, its complete records are kept. Throws AppError
 * unsupported_media_type, invalid_json, invalid_request (the body has none of these three forms) and too_many_parts.
 */
export function gatherJson(
  head: RequestHead,
  body: Buffer,
  truncated: boolean,
  operations: Operations,
): void {
  if (!/^\s*$|json|text\/plain|octet-stream/i.test(head.content_type))
    throw new AppError('unsupported_media_type')
  const cursor = startJson(body)
  try {
    if (head.kind === 'batch') gatherBatch(head, cursor, operations)
    else gatherRecord(head, cursor, head.kind === 'update' ? 'patch' : 'post', operations)
    endJson(cursor)
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error
    if (!truncated)
      throw new AppError('invalid_json', { message: `The body is not valid JSON (byte ${error.at}).` })
    operations.reject(head.path_run_id ?? null, incompleteFault(null))
  }
}

function gatherBatch(head: RequestHead, cursor: JsonCursor, operations: Operations): void {
  if (!atObject(cursor)) {
    takeValue(cursor)
    endJson(cursor)
    throw new AppError('invalid_request', { message: 'The body must be an object with post and patch.' })
  }
  let count = 0
  for (const { key } of objectMembers(cursor)) {
    if (key !== 'post' && key !== 'patch') {
      takeValue(cursor)
    } else if (atArray(cursor)) {
      for (const _ of elements(cursor)) {
        if (++count > head.limits.max_parts) throw tooMany(head.limits.max_parts)
        gatherRecord(head, cursor, key, operations)
      }
    } else if (takeValue(cursor).toString('latin1') !== 'null') {
      throw new AppError('invalid_request', { message: `${key} must be an array of runs.` })
    }
  }
}

function gatherRecord(head: RequestHead, cursor: JsonCursor, op: Op, operations: Operations): void {
  if (!atObject(cursor)) {
    takeValue(cursor)
    operations.reject(null, unprocessable('invalid_field', null, 'The run must be a JSON object.'))
    return
  }
  const record = splitRecord(cursor)
  const id = head.path_run_id ?? idOf(record.parsed?.value) ?? newId(head, record)
  if (id === undefined) {
    const missing = unprocessable(
      'missing_field',
      'id',
      'The run has neither an id nor a dotted_order that ends with one.',
    )
    if (record.parsed === undefined) operations.reject(null, jsonFault('The run'))
    else operations.reject(null, missing, ...faultsOf(record.parsed.value, op))
    return
  }
  addSplitRecord(operations.of(op, id), record, head.limits.max_part_bytes)
}

/** The id for a record that is sent without one; undefined if the record has nothing else either. */
function newId({ new_run_id }: RequestHead, { parsed, fields }: SplitRecord): string | undefined {
  const says = parsed !== undefined && (hasMore(parsed.value) || fields.length > 0)
  return says ? new_run_id : undefined
}

/** The faults of a record without an id, besides the missing id. */
function faultsOf(record: JsonValue, op: Op): readonly Fault[] {
  const checked = isObject(record) ? checkHead(record, op, undefined, '') : []
  return 'ended' in checked ? [] : checked
}

/** The id of a record as text, otherwise the last id of its dotted_order; undefined if it has neither. */
function idOf(record: unknown): string | undefined {
  if (!isObject(record)) return undefined
  const { id } = record
  if (id === undefined || id === null || id === '') return idInOrder(record['dotted_order'])
  return typeof id === 'object' ? `(${typeof id})` : String(id)
}

function idInOrder(order: unknown): string | undefined {
  const parsed = typeof order === 'string' ? parseDottedOrder(order) : undefined
  return parsed?.ok ? parsed.segments.at(-1)!.id : undefined
}

function tooMany(limit: number): AppError {
  return new AppError('too_many_parts', { message: `The request has more than ${limit} runs.` })
}
