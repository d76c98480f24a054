import type { SchemaTypes } from '../../schema/types.gen.ts'

const MS_PER_S = 1000
const MB = 1e6

/** The report of a finished backup or restore. */
export function backupText(
  done: string,
  { tables, files, started_at }: SchemaTypes['backup-manifest'],
  ms: number,
): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const bytes = tables.reduce((sum, table) => sum + table.bytes, files.bytes)
  return `${done} ${rows} rows of ${tables.length} tables and ${files.count} files, ${(bytes / MB).toFixed(1)} MB, in ${(ms / MS_PER_S).toFixed(1)} s.
Everything that was acknowledged before ${started_at} is in the backup.`
}
