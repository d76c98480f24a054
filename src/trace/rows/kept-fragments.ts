import { CONTENT_OFFSET, PROJECT_OFFSET, SIZED_COLUMNS } from './fragment.ts'
import { RowReader, RowWriter } from './row-binary.ts'

/** For how many days the TraceRuns of projects are kept, by project id. Projects that keep them for ever are absent. */
export type KeepDays = ReadonlyMap<string, number>

const UUID_BYTES = 16
const DAYS_BYTES = 2
/** The largest number that the column can store; longer is for ever. */
const MAX_DAYS = 65_535

/** Rows of FRAGMENT_COLUMNS, with the column `keep_days` after them. */
export function withKeepDays(rows: Uint8Array, keepDays: KeepDays): Uint8Array {
  const reader = new RowReader(rows)
  const writer = new RowWriter(rows.length + Math.ceil(rows.length / 32) + DAYS_BYTES)
  while (!reader.done) {
    const start = reader.at
    reader.at = start + PROJECT_OFFSET
    const days = keepDays.get(reader.key(UUID_BYTES)) ?? 0
    reader.at = start + CONTENT_OFFSET
    for (const _column of SIZED_COLUMNS) reader.skip(reader.varint())
    writer.raw(rows.subarray(start, reader.at))
    writer.u16(days)
  }
  return writer.view()
}

/** The same days by the bytes of the project id, as rows contain them. */
export function byStoredId(keepDays: KeepDays): KeepDays {
  return new Map(
    [...keepDays].map(([project_id, days]) => {
      const writer = new RowWriter(UUID_BYTES)
      writer.uuid(project_id)
      return [writer.view().toString('latin1'), days > MAX_DAYS ? 0 : days]
    }),
  )
}
