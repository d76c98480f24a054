import { NIL_UUID } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import type { Sweep } from '../../base/background/sweeps.ts'
import type { Ingester } from '../../ingest/ingester.ts'
import type { ListQuery, TraceStore } from '../../ingest/store/trace-store.ts'
import { CALL_ENDS_BY, PLAYGROUND_PROJECT } from '../../playground/call-trace.ts'
import type { LeftCalls, PendingCall } from '../../playground/left-calls.ts'
import { projectsOfName } from '../../storage/sql/projects/same-name.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { parseFilter } from '../../trace/filter/filter.ts'
import { TRACE_RUN_ROWS } from '../../trace/rows/trace-run-row.ts'

const US_PER_MS = 1000
/** Maximum number of calls that one sweep reads from a project; the next sweep reads further ones. */
const MOST_CALLS = 100
/** Maximum age of the calls that are read. */
const LOOKED_MS = 30 * 24 * 3_600_000
const FILTER = parseFilter(`and(eq(status, "pending"), eq(metadata_key, "${CALL_ENDS_BY}"))`)

/** Reads the playground's calls whose traces have not ended. */
export function pendingCalls(database: Database, store: Pick<TraceStore, 'list'>) {
  return async (before: number): Promise<PendingCall[]> => {
    const found: PendingCall[] = []
    for (const { workspace_id, project_id } of await projectsOfName(database, PLAYGROUND_PROJECT)) {
      const query: ListQuery = {
        project_ids: [project_id],
        is_root: true,
        run_type: 'llm',
        start_time: (before - LOOKED_MS) * US_PER_MS,
        end_time: before * US_PER_MS,
        filter: FILTER,
        order: 'asc',
        limit: MOST_CALLS,
      }
      for (const row of TRACE_RUN_ROWS.readAll(await store.list(workspace_id, query)))
        found.push({
          caller: {
            workspace_id,
            user_id: row.user_id === NIL_UUID ? null : row.user_id,
            api_key_id: row.api_key_id,
          },
          run_id: row.run_id,
          dotted_order: row.dotted_order,
          ends_by: row.metadata[CALL_ENDS_BY] ?? '',
        })
    }
    return found
  }
}

const EVERY_MS = 60_000
/**
 * The server is behind if its oldest waiting data is older than this: half of the time for storing the end of a call.
 */
const BEHIND_MS = 30_000

/**
 * The sweep that ends calls of servers that have ended. Does nothing while this server is behind in storing acknowledged
 * data, which may contain ends of calls.
 */
export function leftCallSweep(left: LeftCalls, ingester: Pick<Ingester, 'health'>, logger: Logger): Sweep {
  return {
    name: 'playground_calls',
    everyMs: EVERY_MS,
    begins: Promise.resolve(),
    async work() {
      const { oldest_waiting_at } = ingester.health()
      if (oldest_waiting_at !== null && Date.parse(oldest_waiting_at) < Date.now() - BEHIND_MS) return
      const ended = await left.end()
      if (ended > 0) logger.info({ ended }, 'calls of the playground have ended with their server')
    },
  }
}
