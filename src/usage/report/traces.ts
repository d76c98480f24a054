import { invalidCursor } from '../../base/text/page-cursor.ts'
import type { UsageTraces } from '../../schema/types.gen.ts'
import { factsOfRank } from '../counting/claim.ts'
import { rankOfVersion } from '../counting/counted-trace.ts'
import type { UsageNames } from './dimensions.ts'
import {
  boundsOf,
  type ExcludedGroups,
  excludedOf,
  keyIdOf,
  namedPlace,
  type UsageSelection,
} from './selection.ts'

export interface UsageTrace {
  workspace_id: string
  trace_id: string
  /** The time at which it counts, epoch milliseconds. */
  start: number
  /** NIL_UUID if there is none. */
  project_id: string
  /** NIL_UUID if there is none. */
  user_id: string
  /** NIL_UUID if there is none. */
  api_key_id: string
  /** As in table `usage_traces`. */
  version: bigint
}

/** The place of a trace in a list: newest first, then by workspace and trace. */
export type UsageTracePlace = Pick<UsageTrace, 'start' | 'workspace_id' | 'trace_id'>

/** Counted traces with a start in `[start, end)`, of the named workspaces and group. */
export interface UsageTracesQuery {
  workspace_ids: readonly string[]
  start: number
  end: number
  project_id: string | undefined
  user_id: string | undefined
  api_key_id: string | undefined
  excluded: ExcludedGroups
  /** Only this trace. */
  trace_id: string | undefined
  /** Only traces after this one. */
  after: UsageTracePlace | undefined
  limit: number
}

/** Lists rows of the table of counted traces. */
export interface UsageTraceSource {
  list(query: UsageTracesQuery): Promise<UsageTrace[]>
}

export interface UsageTracesRequest extends UsageSelection {
  /** Only this trace. */
  trace_id: string | undefined
  cursor: string | undefined
  limit: number
}

const CURSOR = /^(-?\d{1,15})_([\da-f-]{36})_([\da-f-]{36})$/

function writePlace({ start, workspace_id, trace_id }: UsageTracePlace): string {
  return `${start}_${workspace_id}_${trace_id}`
}

/** @throws AppError invalid_request */
function readPlace(cursor: string): UsageTracePlace {
  const [, start, workspace_id = '', trace_id = ''] = CURSOR.exec(cursor) ?? []
  if (start === undefined) throw invalidCursor()
  return { start: Number(start), workspace_id, trace_id }
}

function toAnswer(trace: UsageTrace, names: UsageNames): UsageTraces['items'][number] {
  const { trace_id, start } = trace
  const { kind, has_start, received_at } = factsOfRank(rankOfVersion(trace.version))
  return {
    trace_id,
    ...namedPlace(trace, names),
    counted_at: new Date(start).toISOString(),
    counted_by: kind,
    // A start that is too far in the future was replaced by the receive time.
    time_source: has_start && start !== received_at ? 'start_time' : 'received',
    received_at: new Date(received_at).toISOString(),
    app_path: `/app/traces/${trace_id}`,
  }
}

/**
 * One page of the traces behind a number of the report. If nothing changes between the requests, all pages together
 * have that number of traces. @throws AppError invalid_request
 */
export async function listUsageTraces(
  source: UsageTraceSource,
  request: UsageTracesRequest,
  loadNames: () => Promise<UsageNames>,
): Promise<UsageTraces> {
  const { workspace_ids, project_id, user_id, trace_id, limit } = request
  const bounds = boundsOf(request)
  const after = request.cursor === undefined ? undefined : readPlace(request.cursor)
  if (workspace_ids.length === 0) return { items: [], next_cursor: null }
  const names = await loadNames()
  const api_key_id = request.api_key === undefined ? undefined : keyIdOf(request.api_key, names)
  if (request.api_key !== undefined && api_key_id === undefined) return { items: [], next_cursor: null }
  const excluded = excludedOf(request, names)
  const group = { project_id, user_id, api_key_id, trace_id, excluded }
  const found = await source.list({ workspace_ids, ...bounds, ...group, after, limit: limit + 1 })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((trace) => toAnswer(trace, names)),
    next_cursor: found.length > limit && last !== undefined ? writePlace(last) : null,
  }
}
