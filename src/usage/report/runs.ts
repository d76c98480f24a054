import { invalidCursor } from '../../base/text/page-cursor.ts'
import type { UsageRuns } from '../../schema/types.gen.ts'
import type { UsageNames } from './dimensions.ts'
import {
  boundsOf,
  type ExcludedGroups,
  excludedOf,
  keyIdOf,
  namedPlace,
  type UsageSelection,
} from './selection.ts'

/** The kinds of numbers of the report: a sum of tokens, a sum of costs, or the number of runs without a cost. */
export const SUMMED = ['tokens', 'cost', 'unpriced'] as const

/** One kind of number of a report; see SUMMED. */
export type Summed = (typeof SUMMED)[number]

/** A TraceRun that adds to tokens and costs. */
export interface UsageRun {
  workspace_id: string
  /** Project, user and key are NIL_UUID if there is none. */
  project_id: string
  user_id: string
  api_key_id: string
  trace_id: string
  run_id: string
  name: string
  run_type: string
  /** Provider and model are '' if unknown. */
  provider: string
  model: string
  /** The time at which it counts, epoch microseconds. */
  time: number
  prompt_tokens: number | null
  completion_tokens: number | null
  /** Decimals in US dollars; null if unknown. The second is the estimated part of the first. */
  total_cost: string | null
  estimated_cost: string | null
}

/** The place of a run in a list: newest first, then by workspace, project and run. */
export type UsageRunPlace = Pick<UsageRun, 'time' | 'workspace_id' | 'project_id' | 'run_id'>

/** A model as named in groups; '' for an unknown provider or model. */
export interface UsageModel {
  provider: string
  model: string
}

/** TraceRuns that count in `[start, end)`, epoch milliseconds, of the named workspaces and group. */
export interface UsageRunsQuery {
  workspace_ids: readonly string[]
  start: number
  end: number
  of: Summed
  project_id: string | undefined
  user_id: string | undefined
  api_key_id: string | undefined
  /** '' for runs without one; undefined for all. */
  provider: string | undefined
  /** Any of these; undefined for all. */
  models: readonly string[] | undefined
  excluded: ExcludedGroups & { models: readonly UsageModel[] }
  /** Only runs after this one. */
  after: UsageRunPlace | undefined
  limit: number
}

/** Lists the TraceRuns whose tokens and costs are added up, with their current costs. */
export interface UsageRunSource {
  list(query: UsageRunsQuery): Promise<UsageRun[]>
}

export interface UsageRunsRequest
  extends UsageSelection,
    Pick<UsageRunsQuery, 'of' | 'provider' | 'models' | 'limit'> {
  cursor: string | undefined
  excluded_models: readonly UsageModel[]
}

const CURSOR = /^(-?\d{1,16})_([\da-f-]{36})_([\da-f-]{36})_([\da-f-]{36})$/

function writePlace({ time, workspace_id, project_id, run_id }: UsageRunPlace): string {
  return [time, workspace_id, project_id, run_id].join('_')
}

/** @throws AppError invalid_request */
function readPlace(cursor: string): UsageRunPlace {
  const [, time, workspace_id = '', project_id = '', run_id = ''] = CURSOR.exec(cursor) ?? []
  if (time === undefined) throw invalidCursor()
  return { time: Number(time), workspace_id, project_id, run_id }
}

function toAnswer(run: UsageRun, names: UsageNames): UsageRuns['items'][number] {
  const { workspace_id, project_id, user_id, api_key_id, time, provider, model, ...shown } = run
  return {
    ...shown,
    ...namedPlace({ workspace_id, project_id, user_id, api_key_id }, names),
    provider: provider || null,
    model: model || null,
    counted_at: new Date(time / 1000).toISOString(),
    total_tokens: (run.prompt_tokens ?? 0) + (run.completion_tokens ?? 0),
    app_path: `/app/traces/${run.trace_id}?run=${run.run_id}`,
  }
}

/**
 * One page of the TraceRuns behind a number of the details. If nothing changes between the requests, the sum over all
 * pages is that number. @throws AppError invalid_request
 */
export async function listUsageRuns(
  source: UsageRunSource,
  request: UsageRunsRequest,
  loadNames: () => Promise<UsageNames>,
): Promise<UsageRuns> {
  const { workspace_ids, of, project_id, user_id, provider, models, limit } = request
  const bounds = boundsOf(request)
  const after = request.cursor === undefined ? undefined : readPlace(request.cursor)
  if (workspace_ids.length === 0) return { items: [], next_cursor: null }
  const names = await loadNames()
  const api_key_id = request.api_key === undefined ? undefined : keyIdOf(request.api_key, names)
  if (request.api_key !== undefined && api_key_id === undefined) return { items: [], next_cursor: null }
  const excluded = { ...excludedOf(request, names), models: request.excluded_models }
  const group = { project_id, user_id, api_key_id, provider, models, excluded }
  const found = await source.list({ workspace_ids, ...bounds, of, ...group, after, limit: limit + 1 })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((run) => toAnswer(run, names)),
    next_cursor: found.length > limit && last !== undefined ? writePlace(last) : null,
  }
}
