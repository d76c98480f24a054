import { AppError, toAppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import type { Project, ProjectFields } from '../../ingest/project-store.ts'
import type { ProjectStats } from '../../ingest/trace-store.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { formatTime, parseTime } from '../../trace/time.ts'
import type { AppDeps } from '../app-deps.ts'
import { bodyFault } from '../json-body.ts'
import {
  flagParameter,
  integerParameter,
  textParameter,
  uuidParameter,
  uuidsParameter,
} from '../parameters.ts'
import { type Route, route } from '../route.ts'

const TAG = 'Projects'
type SessionFields = SchemaTypes['session-update']
/** Of what figures are shown: none, the count of runs only, or all. */
type Extent = 'none' | 'counts' | 'all'
/** What of them is known. */
type Figures = { run_count: number; last_start: number | null } & Partial<Omit<ProjectStats, 'last_start'>>
const NO_RUNS: Figures = { run_count: 0, last_start: null }

/** What is not kept: null, as readers of LangSmith's shape expect the keys. */
const UNKNOWN = {
  default_dataset_id: null,
  trace_tier: null,
  feedback_stats: null,
  session_feedback_stats: null,
  run_facets: null,
  test_run_number: null,
}

function figuresJson(figures: Figures | undefined) {
  const { prompt_tokens, completion_tokens } = figures ?? {}
  const last = figures?.last_start ?? null
  const lastStart = last === null ? null : formatTime(last)
  return {
    run_count: figures?.run_count ?? null,
    trace_count: figures?.trace_count ?? null,
    llm_runs: figures?.llm_runs ?? null,
    last_run_start_time: lastStart,
    last_run_start_time_live: lastStart,
    latency_p50: figures?.latency_p50 ?? null,
    latency_p99: figures?.latency_p99 ?? null,
    first_token_p50: figures?.first_token_p50 ?? null,
    first_token_p99: figures?.first_token_p99 ?? null,
    total_tokens:
      prompt_tokens === undefined || completion_tokens === undefined
        ? null
        : prompt_tokens + completion_tokens,
    prompt_tokens: prompt_tokens ?? null,
    completion_tokens: completion_tokens ?? null,
    total_cost: figures?.total_cost ?? null,
    prompt_cost: figures?.prompt_cost ?? null,
    completion_cost: figures?.completion_cost ?? null,
    error_rate: figures?.error_rate ?? null,
    streaming_rate: figures?.streaming_rate ?? null,
  }
}

function toSession(project: Project, figures?: Figures): SchemaTypes['session'] {
  return {
    ...UNKNOWN,
    ...figuresJson(figures),
    id: project.id,
    tenant_id: project.workspace_id,
    name: project.name,
    description: project.description,
    start_time: new Date(project.start_time).toISOString(),
    end_time: project.end_time === null ? null : new Date(project.end_time).toISOString(),
    extra: project.extra,
    reference_dataset_id: project.reference_dataset_id,
  }
}

/** Projects with their figures; without them (null) when the store is down, for then the rest is still of use. */
async function withFigures(
  { reads }: AppDeps,
  workspace_id: string,
  projects: readonly Project[],
  extent: Extent,
) {
  if (projects.length === 0 || extent === 'none') return projects.map((project) => toSession(project))
  const ids = projects.map(({ id }) => id)
  const read =
    extent === 'all' ? reads.projectStats(workspace_id, ids) : reads.projectCounts(workspace_id, ids)
  const figures = await read.catch((thrown: unknown) => {
    if (toAppError(thrown).retryable) return undefined
    throw thrown
  })
  return projects.map((project) =>
    toSession(project, figures === undefined ? undefined : (figures.get(project.id) ?? noRuns(extent))),
  )
}

/** Sums over nothing are 0, so that a new project reads like one that has runs. */
function noRuns(extent: Extent): Figures {
  if (extent !== 'all') return NO_RUNS
  return { ...NO_RUNS, trace_count: 0, llm_runs: 0, prompt_tokens: 0, completion_tokens: 0 }
}

function readTime(fields: SessionFields, name: 'start_time' | 'end_time'): number | null {
  const value = fields[name]
  if (value === undefined || value === null) return null
  const micros = parseTime(value)
  if (micros === undefined) {
    throw bodyFault([{ code: 'bad_format', path: name, message: 'must be an ISO 8601 time' }])
  }
  return Math.floor(micros / 1000)
}

function toFields(body: SessionFields): ProjectFields {
  return {
    name: body.name ?? null,
    description: body.description ?? null,
    extra: (body.extra ?? null) as JsonObject | null,
    reference_dataset_id: parseUuid(body.reference_dataset_id) ?? null,
    start_time: readTime(body, 'start_time'),
    end_time: readTime(body, 'end_time'),
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new AppError('not_found', { message: 'Session not found' })
  return value
}

const STATS =
  'true adds up the runs of each project, which takes half a second for a million; false is quickest. Not sent: runs are counted.'

function extentOf(include_stats: boolean): Extent {
  return include_stats ? 'all' : 'none'
}

function listRoute(): Route {
  return route({
    method: 'GET',
    path: '/sessions',
    summary: 'List projects, newest first',
    tag: TAG,
    query: {
      id: uuidsParameter('Only these.'),
      name: textParameter('Only the one of this name.'),
      name_contains: textParameter('Only those whose name contains it, whatever the case.'),
      include_stats: flagParameter(STATS, undefined),
      limit: integerParameter('At most so many.', { minimum: 1, maximum: 100, otherwise: 100 }),
      offset: integerParameter('Skip so many.', { minimum: 0, maximum: 1_000_000_000, otherwise: 0 }),
    },
    reply: 'session-list',
    async handle({ deps, principal, query }) {
      const { id, name, name_contains, limit, offset, include_stats } = query
      const projects = await deps.projects.list(principal.workspace_id, {
        ...(id.length > 0 && { ids: id }),
        ...(name !== undefined && { name }),
        ...(name_contains !== undefined && { name_contains }),
        limit,
        offset,
      })
      const extent = include_stats === undefined ? 'counts' : extentOf(include_stats)
      return { body: await withFigures(deps, principal.workspace_id, projects, extent) }
    },
  })
}

/** Projects in LangSmith's shape and under its word for them. */
export function sessionRoutes(): Route[] {
  const params = { id: uuidParameter('Id of the project.') }
  return [
    listRoute(),
    route({
      method: 'POST',
      path: '/sessions',
      summary: 'Make a project, or with upsert change the one of that name',
      tag: TAG,
      query: {
        upsert: flagParameter('Change the project of that name if there is one, instead of 409.', false),
      },
      body: 'session-create',
      reply: 'session',
      errors: ['conflict'],
      async handle({ deps, principal, query, body }) {
        const fields = { ...toFields(body), id: parseUuid(body.id) ?? null }
        const project = await deps.projects.create(principal.workspace_id, fields, { upsert: query.upsert })
        return { body: toSession(project) }
      },
    }),
    route({
      method: 'GET',
      path: '/sessions/{id}',
      summary: 'Read one project',
      tag: TAG,
      params,
      query: { include_stats: flagParameter('Whether to add up its runs; false is quicker.', true) },
      reply: 'session',
      errors: ['not_found'],
      async handle({ deps, principal, params: { id }, query }) {
        const project = found(await deps.projects.get(principal.workspace_id, id))
        const extent = extentOf(query.include_stats)
        const [session] = await withFigures(deps, principal.workspace_id, [project], extent)
        return { body: found(session) }
      },
    }),
    route({
      method: 'PATCH',
      path: '/sessions/{id}',
      summary: 'Change a project',
      tag: TAG,
      params,
      body: 'session-update',
      reply: 'session',
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, params: { id }, body }) {
        const project = found(await deps.projects.update(principal.workspace_id, id, toFields(body)))
        return { body: toSession(project) }
      },
    }),
  ]
}
