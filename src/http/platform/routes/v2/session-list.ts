import { chunksOf } from '../../../../base/chunks.ts'
import { AppError } from '../../../../base/errors.ts'
import { isUuid, type PartCheck, readPageCursor, writePageCursor } from '../../../../base/text/page-cursor.ts'
import type { Project, ProjectKey, ProjectQuery } from '../../../../ingest/project-store.ts'
import type { ProjectStats } from '../../../../ingest/store/trace-store.ts'
import { isObject, type JsonObject } from '../../../../schema/json.ts'
import type { AppDeps } from '../../app-deps.ts'
import { projectFilter } from './project-filter.ts'

export const SORTS = [
  'START_TIME',
  'NAME',
  'LAST_RUN_START_TIME',
  'ERROR_RATE',
  'LATENCY_P50',
  'LATENCY_P95',
  'LATENCY_P99',
  'FEEDBACK',
] as const

/** The projects of a list and their order. */
export interface SessionSelection {
  where: Pick<
    ProjectQuery,
    'ids' | 'name' | 'name_contains' | 'reference_dataset_ids' | 'reference_free' | 'types'
  >
  /** JSON text of an object that the metadata must contain. */
  metadata: string | undefined
  filter: string | undefined
  /** Only the list of API v1 sorts by the last three. */
  sort_by: (typeof SORTS)[number] | 'TRACE_COUNT' | 'TOTAL_TOKENS' | 'TOTAL_COST'
  isAscending: boolean
}

export interface SessionPage extends SessionSelection {
  /** The client's query without cursor and page size; a cursor is valid only for the same query. */
  request: unknown
  page_size: number
  cursor: string | undefined
}

type SortValue = string | number | null
/** A project with the value by which it is sorted. */
interface Sorted {
  id: string
  value: SortValue
}

/**
 * Maximum number of projects in a list that is sorted by figures, because the figures are computed again for each page.
 */
const MAX_BY_FIGURES = 1000
const PORTION = 100
const isSortValue: PartCheck<SortValue> = (part): part is SortValue =>
  part === null || typeof part === 'string' || typeof part === 'number'

type Reads = Pick<AppDeps, 'projects' | 'reads'>

/**
 * The projects of a page in order; projects without a value come last.
 * @throws AppError invalid_request, not_implemented
 */
export async function readSessionPage(
  deps: Reads,
  workspace_id: string,
  page: SessionPage,
): Promise<{ projects: Project[]; next_cursor: string | null }> {
  const { request, isAscending, page_size, cursor } = page
  const after = cursor === undefined ? undefined : readPageCursor(cursor, request, [isSortValue, isUuid])
  const order = (a: Sorted, b: Sorted): number => compare(a, b, isAscending)
  const sorted = await selected(deps, workspace_id, page)
  const left = after ? sorted.filter((one) => order({ value: after[0], id: after[1] }, one) < 0) : sorted
  const shown = left.slice(0, page_size)
  const projects = await readAll(
    deps,
    workspace_id,
    shown.map(({ id }) => id),
  )
  const last = shown.at(-1)
  const next = last && left.length > page_size ? writePageCursor(request, [last.value, last.id]) : null
  return { projects, next_cursor: next }
}

/** The projects at `offset` of a list in order, and whether more follow. @throws AppError as `readSessionPage` */
export async function readSessionsAt(
  deps: Reads,
  workspace_id: string,
  selection: SessionSelection,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ projects: Project[]; more: boolean }> {
  const sorted = await selected(deps, workspace_id, selection)
  const shown = sorted.slice(offset, offset + limit).map(({ id }) => id)
  return { projects: await readAll(deps, workspace_id, shown), more: sorted.length > offset + limit }
}

/** All projects that satisfy the conditions, in order. */
async function selected(deps: Reads, workspace_id: string, selection: SessionSelection): Promise<Sorted[]> {
  const keys = await matching(deps, workspace_id, selection)
  const values = await sortValues(deps, workspace_id, keys, selection.sort_by)
  const sorted = keys.map(({ id }) => ({ id, value: values.get(id) ?? null }))
  return sorted.toSorted((a, b) => compare(a, b, selection.isAscending))
}

function compare(a: Sorted, b: Sorted, isAscending: boolean): number {
  if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1
  if (a.value !== null && b.value !== null && a.value !== b.value)
    return (a.value < b.value ? -1 : 1) * (isAscending ? 1 : -1)
  return a.id < b.id ? -1 : Number(a.id > b.id)
}

/** Keys of the projects that satisfy all conditions. */
async function matching(
  deps: Reads,
  workspace_id: string,
  { where, metadata, filter }: SessionSelection,
): Promise<ProjectKey[]> {
  const wanted = metadata === undefined ? undefined : metadataOf(metadata)
  const satisfies = filter === undefined ? () => true : projectFilter(filter)
  const keys = await deps.projects.keys(workspace_id, where)
  if (wanted === undefined && filter === undefined) return keys
  const found: ProjectKey[] = []
  for (const portion of chunksOf(keys, PORTION)) {
    const ids = portion.map(({ id }) => id)
    for (const project of await readAll(deps, workspace_id, ids)) {
      if (contains(project.extra['metadata'], wanted) && satisfies(project)) found.push(project)
    }
  }
  return found
}

function metadataOf(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (isObject(value)) return value
  throw new AppError('invalid_request', { message: 'metadata must be a JSON object.' })
}

function contains(value: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true
  if (!isObject(wanted)) return JSON.stringify(value) === JSON.stringify(wanted)
  return isObject(value) && Object.entries(wanted).every(([key, one]) => contains(value[key], one))
}

/** Returns projects in the order of the ids, without those that were deleted in the meantime. */
async function readAll(
  { projects }: Reads,
  workspace_id: string,
  ids: readonly string[],
): Promise<Project[]> {
  const found = new Map<string, Project>()
  let more = ids.length > 0
  while (more) {
    const page = await projects.list(workspace_id, { ids, limit: ids.length, offset: found.size })
    for (const project of page.projects) found.set(project.id, project)
    more = page.more && page.projects.length > 0
  }
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** The figure of each order; a cost as a number, whose digits are enough to compare. */
const FIGURES = {
  ERROR_RATE: (of) => of.error_rate,
  LATENCY_P50: (of) => of.latency_p50,
  LATENCY_P95: (of) => of.latency_p95,
  LATENCY_P99: (of) => of.latency_p99,
  TRACE_COUNT: (of) => of.trace_count,
  TOTAL_TOKENS: (of) => of.prompt_tokens + of.completion_tokens,
  TOTAL_COST: (of) => (of.total_cost === null ? null : Number(of.total_cost)),
} satisfies Partial<Record<SessionSelection['sort_by'], (of: ProjectStats) => number | null>>

async function sortValues(
  { reads }: Reads,
  workspace_id: string,
  keys: readonly ProjectKey[],
  sort_by: SessionSelection['sort_by'],
): Promise<Map<string, SortValue>> {
  if (sort_by === 'NAME') return new Map(keys.map(({ id, name }) => [id, name]))
  if (sort_by === 'START_TIME') return new Map(keys.map(({ id, start_time }) => [id, start_time]))
  if (sort_by === 'FEEDBACK') throw new AppError('not_implemented', { message: NO_FEEDBACK })
  if (keys.length > MAX_BY_FIGURES) {
    const message = `At most ${MAX_BY_FIGURES} projects can be sorted by ${sort_by}: narrow the list.`
    throw new AppError('invalid_request', { message })
  }
  const ids = keys.map(({ id }) => id)
  if (sort_by === 'LAST_RUN_START_TIME') {
    const counts = await reads.projectCounts(workspace_id, ids)
    return new Map([...counts].map(([id, { last_start }]) => [id, last_start]))
  }
  const stats = await reads.projectStats(workspace_id, ids)
  return new Map([...stats].map(([id, figures]) => [id, FIGURES[sort_by](figures)]))
}

const NO_FEEDBACK = 'Projects cannot be sorted by feedback: there are no datasets on this server.'
