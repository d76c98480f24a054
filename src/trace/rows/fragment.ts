import { hash } from 'node:crypto'
import { NIL_UUID } from '../../base/ids.ts'
import { RowReader, RowWriter } from './row-binary.ts'
import { bytes, type Codec, rowFormat, ticks, u8, uuid } from './row-format.ts'

/**
 * One create or update of one TraceRun, as stored: immutable, with the key workspace, TraceRun, rank and content hash,
 * so that an operation that is sent twice is one fragment, and the order of arrival has no effect (D-11).
 */
export interface Fragment {
  workspace_id: string
  run_id: string
  /** Order in which fragments of one TraceRun are merged: see RANK. */
  rank: number
  /** Receive time, epoch milliseconds. Of equal fragments the earliest is kept. */
  received_at: number
  /** The project of the operation; NIL_UUID if it names none. */
  project_id: string
  /** The user or key that sent the fragment; NIL_UUID if there is none. */
  user_id: string
  api_key_id: string
  /** The main JSON object without the fields below, as sent. */
  head: Uint8Array
  /**
   * The big fields as sent: JSON text, or other text that the client sent instead. Empty if absent. `extra` of a span
   * is the span.
   */
  inputs: Uint8Array
  outputs: Uint8Array
  events: Uint8Array
  extra: Uint8Array
  error: Uint8Array
  serialized: Uint8Array
  /** JSON `{name: {mime_type, size, sha256}}` of the attachments of this operation; empty if there are none. */
  attachments: Uint8Array
}

/** The fields that are sent as separate parts, in storage order. */
export const BIG_FIELDS = ['inputs', 'outputs', 'events', 'extra', 'error', 'serialized'] as const
export type BigField = (typeof BIG_FIELDS)[number]

/**
 * Merge order: a later rank overrides an earlier one; fragments of equal rank are ordered by content hash (D-11).
 * `filtered` is a span without its payload, which a filter of its project left out.
 */
export const RANK = { create: 1, update: 2, update_with_end: 3, filtered: 4 } as const

/** Columns whose size the sender controls, in storage order; column `sizes` holds their lengths. */
export const SIZED_COLUMNS = ['head', ...BIG_FIELDS, 'attachments'] as const
export type SizedColumn = (typeof SIZED_COLUMNS)[number]

const EMPTY = new Uint8Array(0)
const HASH_BYTES = 16
/** A column that is first written as zeros, and overwritten with the hash once the content is known. */
const hashKey: Codec<unknown> = {
  write: (out) => {
    out.u64(0)
    out.u64(0)
  },
  read: (from) => from.key(HASH_BYTES),
  size: HASH_BYTES,
}

/** Rows of table `fragments`, and of `run_fragments` of earlier releases. */
const FRAGMENT_ROWS = rowFormat<Fragment & { hash?: unknown }>({
  workspace_id: uuid,
  run_id: uuid,
  rank: u8,
  hash: hashKey,
  received_at: ticks,
  project_id: uuid,
  user_id: uuid,
  api_key_id: uuid,
  head: bytes,
  inputs: bytes,
  outputs: bytes,
  events: bytes,
  extra: bytes,
  error: bytes,
  serialized: bytes,
  attachments: bytes,
})
/** Columns of `fragments` in the order of the encoding. */
export const FRAGMENT_COLUMNS = FRAGMENT_ROWS.columns

const HASH_OFFSET = FRAGMENT_ROWS.offsetOf('hash')
/** Offsets in an encoded row: of `project_id`, and of the columns in SIZED_COLUMNS, which are its end. */
export const PROJECT_OFFSET = FRAGMENT_ROWS.offsetOf('project_id')
export const CONTENT_OFFSET = FRAGMENT_ROWS.offsetOf('head')

const readWhole = FRAGMENT_ROWS.reader(FRAGMENT_COLUMNS)
const HEAD_COLUMNS = FRAGMENT_COLUMNS.slice(0, FRAGMENT_COLUMNS.indexOf('head') + 1)
const readHead = FRAGMENT_ROWS.reader(HEAD_COLUMNS)
/** Columns of a fragment that are read without its payload, and that determine which payload is needed. */
export const OUTLINE_COLUMNS = [...HEAD_COLUMNS, 'sizes'] as const

/** Columns of payloads that are read back later; columns that were not requested are empty. */
export const PAYLOAD_COLUMNS = ['workspace_id', 'run_id', 'hash', ...SIZED_COLUMNS] as const
const readPayload = FRAGMENT_ROWS.reader(SIZED_COLUMNS)

/**
 * Appends `fragment` as one row and returns the position of its project_id, so that the project can be filled in once
 * its name has been resolved (patchUuid). The hash covers the content, not the sender or the time.
 */
export function writeFragment(writer: RowWriter, fragment: Fragment): number {
  const start = writer.length
  FRAGMENT_ROWS.write(writer, fragment)
  const content = writer.view(start + CONTENT_OFFSET)
  writer.patchHex(start + HASH_OFFSET, hash('sha1', content, 'hex'), HASH_BYTES)
  return start + PROJECT_OFFSET
}

/** A fragment as read: views of the rows' buffer, with the keys that merging needs. */
export interface StoredFragment extends Fragment {
  /** Content hash, 16 bytes as a latin1 string. */
  hash: string
  /** Workspace and TraceRun id, 32 bytes as a latin1 string: the key of a TraceRun in maps. */
  key: string
  /** The whole encoded row, a view; for an outline, the encoded outline. */
  row: Uint8Array
  /** Bytes of the columns that are stored but not loaded, and empty here. */
  left_out: Partial<Record<SizedColumn, number>>
}

const NONE_LEFT_OUT: StoredFragment['left_out'] = Object.freeze({})

/** Reads the next row; its byte fields are views that are valid as long as the rows' buffer. */
export function readFragment(reader: RowReader): StoredFragment {
  return readStored(reader, readWhole, NONE_LEFT_OUT)
}

function readStored(
  reader: RowReader,
  readInto: typeof readWhole,
  left_out: StoredFragment['left_out'],
): StoredFragment {
  const start = reader.at
  const key = reader.key(32)
  reader.at = start
  const fragment: StoredFragment = {
    key,
    hash: '',
    row: EMPTY,
    left_out,
    workspace_id: '',
    run_id: '',
    rank: 0,
    received_at: 0,
    project_id: '',
    user_id: '',
    api_key_id: '',
    head: EMPTY,
    inputs: EMPTY,
    outputs: EMPTY,
    events: EMPTY,
    extra: EMPTY,
    error: EMPTY,
    serialized: EMPTY,
    attachments: EMPTY,
  }
  readInto(reader, fragment)
  fragment.row = reader.buffer.subarray(start, reader.at)
  return fragment
}

/** Every fragment of `rows` in OUTLINE_COLUMNS: `left_out` has the columns that are not loaded. */
export function* readOutlines(rows: Uint8Array): Generator<StoredFragment> {
  const reader = new RowReader(rows)
  while (!reader.done) {
    const start = reader.at
    const fragment = readStored(reader, readHead, {})
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

/** Columns of one fragment that were read back; empty if they are empty in the store or were not requested. */
export interface StoredPayload {
  /** As in StoredFragment. */
  key: string
  hash: string
  columns: Record<SizedColumn, Uint8Array>
}

/** Reads rows that consist of PAYLOAD_COLUMNS. Byte fields are views of `rows`, not copies. */
export function* readPayloads(rows: Uint8Array): Generator<StoredPayload> {
  const reader = new RowReader(rows)
  while (!reader.done) {
    const key = reader.key(32)
    const hash = reader.key(HASH_BYTES)
    const columns = noPayload()
    readPayload(reader, columns)
    yield { key, hash, columns }
  }
}

/** Bytes of a column, loaded or not. */
export function sizeOf(fragment: StoredFragment, column: SizedColumn): number {
  return fragment.left_out[column] ?? fragment[column].length
}

/** A fragment that has only its keys, before it is filled. */
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
    ...noPayload(),
  }
}

function noPayload(): Record<SizedColumn, Uint8Array> {
  return {
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

/** The ids in a key that `keyOf` made. */
export function idsOf(key: string): { workspace_id: string; run_id: string } {
  const reader = new RowReader(Buffer.from(key, 'latin1'))
  return { workspace_id: reader.uuid(), run_id: reader.uuid() }
}
