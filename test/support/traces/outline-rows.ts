import { SIZED_COLUMNS, type StoredFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'

/** Fragments in the format of the store's outlines. */
export function outlineRows(fragments: readonly StoredFragment[]): Uint8Array<ArrayBuffer> {
  const out = new RowWriter()
  for (const fragment of fragments) {
    out.uuid(fragment.workspace_id)
    out.uuid(fragment.run_id)
    out.u8(fragment.rank)
    out.raw(Buffer.from(fragment.hash, 'latin1'))
    out.i64(BigInt(fragment.received_at))
    out.uuid(fragment.project_id)
    out.uuid(fragment.user_id)
    out.uuid(fragment.api_key_id)
    out.bytes(fragment.head)
    out.varint(SIZED_COLUMNS.length)
    for (const column of SIZED_COLUMNS) out.u32(fragment[column].length)
  }
  return out.finish()
}

/** Rows of the given columns, in the format of the store's payload reads; other columns are empty. */
export function payloadRows(
  fragments: readonly StoredFragment[],
  columns: readonly string[],
): Uint8Array<ArrayBuffer> {
  const out = new RowWriter()
  for (const fragment of fragments) {
    out.raw(Buffer.from(fragment.key + fragment.hash, 'latin1'))
    for (const column of SIZED_COLUMNS)
      out.bytes(columns.includes(column) ? fragment[column] : new Uint8Array(0))
  }
  return out.finish()
}
