import { AppError } from '../../base/errors.ts'
import { invalidCursor } from '../../base/text/page-cursor.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { UsageTraces } from '../../schema/types.gen.ts'
import { factsOfRank } from '../counting/claim.ts'
import { rankOfVersion } from '../counting/counted-trace.ts'
import type { UsageNames } from './dimensions.ts'
import { rangeOf } from './granular-usage.ts'
import { bucketOf, strideMillis } from './stride.ts'

/** A trace as it counts. */
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
  /** Only traces after this one. */
  after: UsageTracePlace | undefined
  limit: number
}

/** Lists counted traces, from the table that they are counted in. */
export interface UsageTraceSource {
  list(query: UsageTracesQuery): Promise<UsageTrace[]>
}

/** The selection of a list. Times are epoch milliseconds, with fractions. */
export interface UsageTracesRequest {
  workspace_ids: readonly string[]
  /** The range of the report. */
  start: number
  end: number
  /** Only this bucket of the report, by its start. */
  bucket: number | undefined
  project_id: string | undefined
  /** NIL_UUID for traces without a user. */
  user_id: string | undefined
  /** Short key, or the id of a key without one. */
  api_key: string | undefined
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

/** The part of the range that lies in the bucket. @throws AppError invalid_request when the report has no such bucket */
function boundsOf({ start, end, bucket }: UsageTracesRequest): { start: number; end: number } {
  const range = rangeOf(start, end)
  if (bucket === undefined) return { start: range.start, end: range.end }
  const size = strideMillis(range.stride)
  const last = Math.max(range.start, range.end - 1)
  if (bucketOf(bucket, range.origin, range.stride) !== bucket || bucket < range.origin || bucket > last) {
    const message =
      'time_bucket must be the start of a bucket of the report with this start_time and end_time'
    throw new AppError('invalid_request', { message })
  }
  return { start: Math.max(range.start, bucket), end: Math.min(range.end, bucket + size) }
}

/** The id of a key by its short key, which is unique in the organization. */
function keyIdOf(api_key: string, { short_keys }: UsageNames): string {
  return [...short_keys].find(([, short_key]) => short_key === api_key)?.[0] ?? api_key
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

function toAnswer(trace: UsageTrace, names: UsageNames): UsageTraces['items'][number] {
  const { workspace_id, trace_id, project_id, user_id, api_key_id, start } = trace
  const { kind, has_start, received_at } = factsOfRank(rankOfVersion(trace.version))
  return {
    trace_id,
    workspace_id,
    workspace_name: names.workspaces.get(workspace_id) ?? workspace_id,
    project_id,
    project_name: names.projects.get(`${workspace_id}/${project_id}`) ?? project_id,
    user_id: user_id === NIL_UUID ? null : user_id,
    user_email: names.emails.get(user_id) ?? null,
    api_key_short_key: names.short_keys.get(api_key_id) ?? api_key_id,
    counted_at: new Date(start).toISOString(),
    counted_by: kind,
    // A start that is too far in the future was replaced by the time of receiving.
    time_source: has_start && start !== received_at ? 'start_time' : 'received',
    received_at: new Date(received_at).toISOString(),
    app_path: `/app/traces/${trace_id}`,
  }
}

/**
 * One page of the traces that a number of the report counts. Without changes between the requests, all pages together
 * have as many traces as the report counts. @throws AppError invalid_request
 */
export async function listUsageTraces(
  source: UsageTraceSource,
  request: UsageTracesRequest,
  loadNames: () => Promise<UsageNames>,
): Promise<UsageTraces> {
  const { workspace_ids, project_id, user_id, limit } = request
  const bounds = boundsOf(request)
  const after = request.cursor === undefined ? undefined : readPlace(request.cursor)
  if (workspace_ids.length === 0) return { items: [], next_cursor: null }
  const names = await loadNames()
  const api_key_id = request.api_key === undefined ? undefined : keyIdOf(request.api_key, names)
  if (api_key_id !== undefined && !UUID.test(api_key_id)) return { items: [], next_cursor: null }
  const group = { project_id, user_id, api_key_id }
  const found = await source.list({ workspace_ids, ...bounds, ...group, after, limit: limit + 1 })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((trace) => toAnswer(trace, names)),
    next_cursor: found.length > limit && last !== undefined ? writePlace(last) : null,
  }
}
