import { hash } from 'node:crypto'
import { NIL_UUID } from '../base/ids.ts'
import { RowReader, RowWriter } from './row-binary.ts'

/**
 * One create or update of one TraceRun, as stored: immutable, keyed by workspace, TraceRun, rank and content hash,
 * so that the same operation twice is one fragment and arrival order does not matter (D-11).
 */
export interface Fragment {
  workspace_id: string
  run_id: string
  /** Order in which fragments of one TraceRun are merged: see RANK. */
  rank: number
  /** Receive time, epoch milliseconds. Of equal fragments the earliest is kept. */
  received_at: number
  /** The project that the operation was filed in; NIL_UUID when the operation names none. */
  project_id: string
  /** Who sent it; NIL_UUID for none. */
  user_id: string
  api_key_id: string
  /** The main JSON object without the fields below, as sent. */
  head: Uint8Array
  /** The big fields as sent: JSON text, or what the client wrote where JSON should be. Empty = absent. `extra` of a span is the span. */
  inputs: Uint8Array
  outputs: Uint8Array
  events: Uint8Array
  extra: Uint8Array
  error: Uint8Array
  serialized: Uint8Array
  /** JSON `{name: {mime_type, size, sha256}}` of the attachments that came with it. Empty = none. */
  attachments: Uint8Array
}

/** The fields that travel as parts of their own (contract §1.3), in storage order. */
export const BIG_FIELDS = ['inputs', 'outputs', 'events', 'extra', 'error', 'serialized'] as const
export type BigField = (typeof BIG_FIELDS)[number]

/** Merge order: a later rank overrides an earlier one, equal ranks go by content hash (D-11). */
export const RANK = { create: 1, update: 2, update_with_end: 3 } as const

/** Columns of `run_fragments` in the order of the encoding. */
export const FRAGMENT_COLUMNS = [
  'workspace_id',
  'run_id',
  'rank',
  'hash',
  'received_at',
  'project_id',
  'user_id',
  'api_key_id',
  'head',
  ...BIG_FIELDS,
  'attachments',
] as const

/** Columns whose size the sender chooses, in storage order; column `sizes` holds their lengths. */
export const SIZED_COLUMNS = ['head', ...BIG_FIELDS, 'attachments'] as const
export type SizedColumn = (typeof SIZED_COLUMNS)[number]

/** Columns of a fragment read back without its payload: enough to tell what of it is needed. */
export const OUTLINE_COLUMNS = [
  'workspace_id',
  'run_id',
  'rank',
  'hash',
  'received_at',
  'project_id',
  'user_id',
  'api_key_id',
  'head',
  'sizes',
] as const

/** Columns of payloads read back later; those that were not asked for are empty. */
export const PAYLOAD_COLUMNS = ['workspace_id', 'run_id', 'hash', ...SIZED_COLUMNS] as const

const HASH_BYTES = 16
const EMPTY = new Uint8Array(0)
/** Where a row's hash starts: after two ids and the rank. */
const HASH_OFFSET = 16 + 16 + 1
/** Where its project_id starts: after the hash and the receive time. */
const PROJECT_OFFSET = HASH_OFFSET + HASH_BYTES + 8

/**
 * Appends `fragment` as one row and returns the position of its project_id, so that the project can be
 * filled in once its name has been resolved (patchUuid). The hash covers rank and content, not who sent it when.
 */
export function writeFragment(writer: RowWriter, fragment: Fragment): number {
  const start = writer.length
  writer.uuid(fragment.workspace_id)
  writer.uuid(fragment.run_id)
  writer.u8(fragment.rank)
  writer.u64(0)
  writer.u64(0)
  writer.i64(BigInt(fragment.received_at))
  writer.uuid(fragment.project_id)
  writer.uuid(fragment.user_id)
  writer.uuid(fragment.api_key_id)
  const content = writer.length
  writer.bytes(fragment.head)
  for (const field of BIG_FIELDS) writer.bytes(fragment[field])
  writer.bytes(fragment.attachments)
  writer.patchHex(start + HASH_OFFSET, hash('sha1', writer.view(content), 'hex'), HASH_BYTES)
  return start + PROJECT_OFFSET
}

/** A fragment as read: views into the rows' buffer, with the keys that merging needs. */
export interface StoredFragment extends Fragment {
  /** Content hash, 16 bytes as a latin1 string. */
  hash: string
  /** Workspace and TraceRun id, 32 bytes as a latin1 string: the key of a TraceRun in maps. */
  key: string
  /** The whole encoded row, a view; of an outline the row of that. */
  row: Uint8Array
  /** Bytes of the columns that are stored and not at hand: those are empty here. */
  left_out: Partial<Record<SizedColumn, number>>
}

const NONE_LEFT_OUT: StoredFragment['left_out'] = Object.freeze({})

/** Reads the next row; its byte fields are views and live as long as the rows' buffer. */
export function readFragment(reader: RowReader): StoredFragment {
  const start = reader.at
  const key = reader.key(32)
  reader.at = start
  const fragment: StoredFragment = {
    key,
    row: EMPTY,
    left_out: NONE_LEFT_OUT,
    workspace_id: reader.uuid(),
    run_id: reader.uuid(),
    rank: reader.u8(),
    hash: reader.key(HASH_BYTES),
    received_at: Number(reader.i64()),
    project_id: reader.uuid(),
    user_id: reader.uuid(),
    api_key_id: reader.uuid(),
    head: reader.bytes(),
    inputs: reader.bytes(),
    outputs: reader.bytes(),
    events: reader.bytes(),
    extra: reader.bytes(),
    error: reader.bytes(),
    serialized: reader.bytes(),
    attachments: reader.bytes(),
  }
  fragment.row = reader.buffer.subarray(start, reader.at)
  return fragment
}

/** Every fragment of `rows` in OUTLINE_COLUMNS: what is not at hand is in `left_out`. */
export function* readOutlines(rows: Uint8Array): Generator<StoredFragment> {
  const reader = new RowReader(rows)
  while (!reader.done) {
    const start = reader.at
    const key = reader.key(32)
    reader.at = start
    const fragment: StoredFragment = {
      ...emptyFragment(reader.uuid(), reader.uuid(), reader.u8(), 0),
      key,
      row: EMPTY,
      left_out: {},
      hash: reader.key(HASH_BYTES),
      received_at: Number(reader.i64()),
      project_id: reader.uuid(),
      user_id: reader.uuid(),
      api_key_id: reader.uuid(),
      head: reader.bytes(),
    }
    const sizes = reader.varint()
    for (let i = 0; i < sizes; i++) {
      const size = reader.u32()
      const column = SIZED_COLUMNS[i]
      if (column !== undefined && size > fragment[column].length) fragment.left_out[column] = size
    }
    fragment.row = reader.buffer.subarray(start, reader.at)
    yield fragment
  }
}

/** Columns of one fragment, read back; those that are empty or were not asked for are empty. */
export interface StoredPayload {
  /** As in StoredFragment. */
  key: string
  hash: string
  columns: Record<SizedColumn, Uint8Array>
}

/** Every row of `rows` in PAYLOAD_COLUMNS; the byte fields are views. */
export function* readPayloads(rows: Uint8Array): Generator<StoredPayload> {
  const reader = new RowReader(rows)
  while (!reader.done) {
    yield {
      key: reader.key(32),
      hash: reader.key(HASH_BYTES),
      columns: {
        head: reader.bytes(),
        inputs: reader.bytes(),
        outputs: reader.bytes(),
        events: reader.bytes(),
        extra: reader.bytes(),
        error: reader.bytes(),
        serialized: reader.bytes(),
        attachments: reader.bytes(),
      },
    }
  }
}

/** How large a column is, at hand or not. */
export function sizeOf(fragment: StoredFragment, column: SizedColumn): number {
  return fragment.left_out[column] ?? fragment[column].length
}

/** A fragment with nothing in it but its keys: a base to fill. */
export function emptyFragment(
  workspace_id: string,
  run_id: string,
  rank: number,
  received_at: number,
): Fragment {
  return {
    workspace_id,
    run_id,
    rank,
    received_at,
    project_id: NIL_UUID,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    head: EMPTY,
    inputs: EMPTY,
    outputs: EMPTY,
    events: EMPTY,
    extra: EMPTY,
    error: EMPTY,
    serialized: EMPTY,
    attachments: EMPTY,
  }
}

/** Every fragment of `rows`, in their order. */
export function* readFragments(rows: Uint8Array): Generator<StoredFragment> {
  const reader = new RowReader(rows)
  while (!reader.done) yield readFragment(reader)
}

/** The map key of a TraceRun, as StoredFragment has it. */
export function keyOf(workspace_id: string, run_id: string): string {
  const writer = new RowWriter(64)
  writer.uuid(workspace_id)
  writer.uuid(run_id)
  return writer.view().toString('latin1')
}

/** The ids that `keyOf` made a key of. */
export function idsOf(key: string): { workspace_id: string; run_id: string } {
  const reader = new RowReader(Buffer.from(key, 'latin1'))
  return { workspace_id: reader.uuid(), run_id: reader.uuid() }
}
