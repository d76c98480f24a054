import { NIL_UUID } from '../../../base/ids.ts'
import type { RunOfTrace, TraceDeletion } from '../../../ingest/deletion/trace-deletion.ts'
import type { ClickHouse } from '../connect.ts'
import { deleteFragments } from '../fragments/delete-fragments.ts'
import { fragmentsSql } from '../fragments/fragments-sql.ts'
import { freeExpiredFragments } from '../fragments/free-expired.ts'
import { deleteHiddenFragments } from '../fragments/hidden-fragments.ts'
import { deleteAttachmentUses, SHA256, usedAttachments } from './attachment-uses.ts'
import { freeDeletedRows } from './deleted-rows.ts'
import { mostRuns, runSet } from './run-set.ts'
import { deleteSpanParts } from './span-parts.ts'
import { MARKED, markingDeletedHours } from '../hours/deleted-hours.ts'
import { listSql } from '../list-sql.ts'

/**
 * Tables in the order of deletion, after the fragments. `trace_runs` and `filtered_spans` are the last ones, because the statements find the
 * rows of a trace in the other tables through them.
 */
const TABLES = [
  'feedback',
  'waiting_children',
  'run_places',
  'thread_runs',
  'runs',
  'trace_runs',
  'filtered_spans',
] as const
const FRAGMENTS = ['run_fragments', 'fragments', 'fragment_places'] as const
const EXPIRED = `workspace_id = {workspace_id:UUID} AND project_id = {project_id:UUID}
  AND received_at < fromUnixTimestamp64Milli({before:Int64})`
/** A root that is kept may have fragments under the same id. It is deleted when its own row expires. */
const HAS_NO_ROW = `run_id NOT IN (SELECT run_id FROM trace_runs FINAL WHERE workspace_id = {workspace_id:UUID}
  AND trace_id IN (SELECT trace_id FROM filtered_spans WHERE ${EXPIRED}))`
const OF_TRACES = 'workspace_id = {workspace_id:UUID} AND trace_id IN {trace_ids:Array(UUID)}'

/** Deletions over a ClickHouse whose schema is migrated; `columns` are those of table `runs`. */
export function createTraceDeletion(clickhouse: ClickHouse, columns: readonly string[]): TraceDeletion {
  const ids = async (name: string, sql: string, params: Record<string, unknown>): Promise<string[]> => {
    const rows = await clickhouse.rows<Record<string, string>>(sql, { params })
    return rows.flatMap((row) => row[name] ?? [])
  }
  return {
    page: mostRuns(clickhouse),
    runsOfProject: (workspace_id, project_id, before, limit) =>
      ids(
        'run_id',
        `SELECT run_id FROM (
           SELECT run_id FROM runs FINAL WHERE ${EXPIRED} LIMIT {limit:UInt32}
           UNION DISTINCT
           SELECT run_id FROM filtered_spans WHERE ${EXPIRED} AND ${HAS_NO_ROW} LIMIT {limit:UInt32}
         ) LIMIT {limit:UInt32}`,
        { workspace_id, project_id, before, limit },
      ),
    runsOfTraces: (workspace_id, trace_ids, limit) =>
      clickhouse.rows<RunOfTrace>(
        `SELECT run_id, trace_id FROM (
           SELECT run_id, trace_id FROM trace_runs FINAL WHERE ${OF_TRACES} LIMIT {limit:UInt32}
           UNION DISTINCT
           SELECT run_id, trace_id FROM filtered_spans WHERE ${OF_TRACES} LIMIT {limit:UInt32}
         ) LIMIT {limit:UInt32}`,
        { params: { workspace_id, trace_ids, limit } },
      ),
    async tracesOf(workspace_id, query) {
      const { sql, params } = listSql(columns, query)
      return await ids('trace_id', `SELECT DISTINCT trace_id FROM (${sql})`, { workspace_id, ...params })
    },
    attachmentsOf: (workspace_id, run_ids) =>
      ids(
        'sha256',
        `SELECT DISTINCT sha256 FROM (${fragmentsSql({
          columns: `arrayJoin(${SHA256}) AS sha256`,
          ofRuns: 'run_id IN {run_ids:Array(UUID)}',
          where: ["attachments != ''"],
        })})`,
        { workspace_id, run_ids },
      ),
    async deleteRuns(workspace_id, run_ids, { attachments = [], expired_at } = {}) {
      const runs = await runSet(clickhouse, workspace_id, run_ids)
      const { sql, params } = runs
      await markingDeletedHours(clickhouse, runs, async () => {
        await deleteAttachmentUses(clickhouse, runs, attachments)
        await deleteSpanParts(clickhouse, runs, run_ids)
        await deleteFragments(clickhouse, runs, { expired_at })
        for (const table of TABLES)
          await clickhouse.command(`DELETE FROM ${table} WHERE ${sql} AND ${MARKED}`, { params })
      })
    },
    async freeSpace(signal) {
      await deleteHiddenFragments(clickhouse, signal)
      for (const table of [...FRAGMENTS, ...TABLES]) await freeDeletedRows(clickhouse, table, signal)
    },
    freeExpired: (now, signal) => freeExpiredFragments(clickhouse, now, signal),
    deleteProjectFeedback: (workspace_id, project_id) =>
      clickhouse.command(
        `DELETE FROM feedback WHERE workspace_id = {workspace_id:UUID} AND run_id = toUUID('${NIL_UUID}')
           AND JSONExtractString(body, 'session_id') = {project_id:String}`,
        { params: { workspace_id, project_id } },
      ),
    usedBlobs: (sha256s) => usedAttachments(clickhouse, sha256s),
  }
}
