import { chunksOf } from '../../../base/chunks.ts'
import type { ClickHouse } from '../connect.ts'
import { isRepaired, noteRepaired } from '../repairs.ts'
import type { RunSet } from './run-set.ts'

const NAME = 'attachment_uses'
/** Maximum number of hashes in one statement, of which a server takes 256 KB. */
const HASHES = 1_000
/** The SHA-256 hashes in the text of `attachments`. */
export const SHA256 = `extractAll(attachments, '[0-9a-f]{64}')`
const THESE = 'sha256 IN (SELECT toFixedString(unhex(arrayJoin({sha256s:Array(String)})), 32))'

/** The attachments (SHA-256 in hex) to which at least one TraceRun refers. */
export async function usedAttachments(
  clickhouse: ClickHouse,
  sha256s: readonly string[],
): Promise<Set<string>> {
  const statements = [`SELECT DISTINCT lower(hex(sha256)) AS used FROM attachment_uses WHERE ${THESE}`]
  if (!(await isRepaired(clickhouse, NAME)))
    statements.push(
      `SELECT DISTINCT arrayJoin(${SHA256}) AS used FROM run_fragments
       WHERE attachments != '' AND used IN {sha256s:Array(String)}`,
    )
  const rows = await clickhouse.rows<{ used: string }>(statements.join(' UNION ALL '), {
    params: { sha256s },
  })
  return new Set(rows.map(({ used }) => used))
}

/** Deletes that these TraceRuns use these attachments. */
export async function deleteAttachmentUses(
  clickhouse: ClickHouse,
  { sql, params }: RunSet,
  sha256s: readonly string[],
): Promise<void> {
  for (const some of chunksOf(sha256s, HASHES)) {
    const hashes = some.map((sha256) => `unhex('${sha256}')`)
    await clickhouse.command(
      `DELETE FROM attachment_uses WHERE sha256 IN (${hashes.join(', ')})
         AND ${sql}`,
      { params },
    )
  }
}

/**
 * Adds the attachments of fragments of earlier releases. This is done once for each store, and repeating it changes
 * nothing.
 */
export async function fillAttachmentUses(clickhouse: ClickHouse, signal: AbortSignal): Promise<void> {
  if (signal.aborted || (await isRepaired(clickhouse, NAME))) return
  await clickhouse.command(
    `INSERT INTO attachment_uses (sha256, workspace_id, run_id)
     SELECT DISTINCT toFixedString(unhex(arrayJoin(${SHA256})), 32), workspace_id, run_id
     FROM run_fragments WHERE attachments != ''`,
  )
  await noteRepaired(clickhouse, NAME)
}
