import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { decodeBody } from './body-encoding.ts'
import { gatherJson } from './batch.ts'
import { gatherMultipart } from './gather-multipart.ts'
import { gatherOperations, type StoredOperation } from './operations.ts'
import { headOf, type Operation } from './record.ts'
import type { Decoded, ProjectReference, RequestHead } from './decoded.ts'
import { type FeedbackRow, FEEDBACK_ROWS } from '../rows/feedback.ts'
import { BIG_FIELDS, RANK, writeFragment } from '../rows/fragment.ts'
import { decodeOtlp } from '../otel/wire/decode.ts'
import { RowWriter } from '../rows/row-binary.ts'

/** Name of the project for creates without a project. */
const DEFAULT_PROJECT = 'default'
/** Bytes of a fragment before its first String: keys, rank, hash, time, three ids. */
const FRAGMENT_KEYS = 105

/**
 * Converts the body of an ingest request to fragments. Pure and synchronous. A bad item is listed in `rejected`, and
 * all others are kept. Throws AppError only if nothing in the body can be read (invalid_encoding, unsupported_encoding,
 * unsupported_media_type, invalid_multipart, invalid_json, invalid_otlp, invalid_request) or if it exceeds `limits`
 * (body_too_large, too_many_parts). The result shares no buffers with the body.
 */
export function decodeRequest(head: RequestHead, body: Uint8Array): Decoded {
  const { bytes, truncated } = decodeBody(body, head.content_encoding, head.limits.max_body_bytes)
  if (head.kind === 'otlp-traces' || head.kind === 'otlp-logs') {
    // In a truncated message no part is known to be complete, and the sender will send the message again.
    if (truncated || head.truncated === true) throw new AppError('invalid_encoding')
    return { ...decodeOtlp(head, bytes), body_bytes: bytes.length }
  }
  const operations = gatherOperations()
  let cut = truncated || head.truncated === true
  if (head.kind === 'multipart') cut = !gatherMultipart(head, bytes, operations).closed || cut
  else gatherJson(head, bytes, cut, operations)
  const { stored, feedback, blobs, rejected } = operations.finish()
  return {
    ...writeOperations(head, stored),
    ...writeFeedbackRows(feedback),
    blobs,
    rejected,
    body_bytes: bytes.length,
    truncated: cut,
  }
}

function writeOperations(
  head: RequestHead,
  operations: readonly StoredOperation[],
): Pick<Decoded, 'rows' | 'count' | 'projects'> {
  const heads = operations.map(headOf)
  const size = operations.reduce((sum, operation, i) => sum + sizeOf(operation, heads[i]!), 0)
  const writer = new RowWriter(size)
  const projects = new Map<string, ProjectReference>()
  for (const [i, operation] of operations.entries()) {
    const offset = writeFragment(writer, {
      workspace_id: head.workspace_id,
      run_id: operation.run_id,
      rank: rankOf(operation),
      received_at: head.received_at,
      project_id: NIL_UUID,
      user_id: head.user_id,
      api_key_id: head.api_key_id,
      head: heads[i]!,
      ...operation.fields,
      attachments: operation.attachments,
    })
    noteProject(projects, operation, offset)
  }
  return { rows: writer.finish(), count: operations.length, projects: [...projects.values()] }
}

/** The exact size of the fragment, so that the buffer of the rows is allocated with the right size. */
function sizeOf({ fields, attachments }: Operation, head: Buffer): number {
  let size = FRAGMENT_KEYS + stringSize(head.length) + stringSize(attachments.length)
  for (const field of BIG_FIELDS) size += stringSize(fields[field].length)
  return size
}

/** RowBinary size of a String in bytes: its length as a varint, then its content. */
function stringSize(length: number): number {
  let size = length + 1
  for (let rest = length; rest > 127; rest = Math.floor(rest / 128)) size++
  return size
}

function rankOf({ op, ended }: Operation): number {
  if (op === 'post') return RANK.create
  return ended ? RANK.update_with_end : RANK.update
}

/**
 * Records the project of an operation. A create without a project is stored in the default project; an update without a
 * project leaves the project unchanged.
 */
function noteProject(projects: Map<string, ProjectReference>, operation: Operation, offset: number): void {
  const { session_id, session_name } = operation
  const isNamed = session_id !== null || session_name !== null
  if (!isNamed && (operation.op === 'patch' || operation.heads.length === 0)) return
  const name = isNamed ? session_name : DEFAULT_PROJECT
  const key = `${session_id ?? ''}/${name ?? ''}`
  const reference = projects.get(key)
  if (reference === undefined) projects.set(key, { session_id, session_name: name, offsets: [offset] })
  else reference.offsets.push(offset)
}

function writeFeedbackRows(
  feedback: readonly FeedbackRow[],
): Pick<Decoded, 'feedback_rows' | 'feedback_count'> {
  if (feedback.length === 0) return { feedback_rows: new Uint8Array(0), feedback_count: 0 }
  const writer = new RowWriter()
  for (const row of feedback) FEEDBACK_ROWS.write(writer, row)
  return { feedback_rows: writer.finish(), feedback_count: feedback.length }
}
