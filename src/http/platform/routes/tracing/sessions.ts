import { AppError, toAppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import type { Project, ProjectFields, ProjectType } from '../../../../ingest/project-store.ts'
import type { ProjectStats } from '../../../../ingest/store/trace-store.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { formatTime, parseTime } from '../../../../trace/derive/time.ts'
import type { AppDeps } from '../../app-deps.ts'
import { bodyFault } from '../../../body/json.ts'
import { flagParameter, textParameter, wordParameter, uuidParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'

const TAG = 'Projects'
type SessionFields = SchemaTypes['session-update']
/** The statistics to return: none, only the count of runs, or all. */
export type Extent = 'none' | 'counts' | 'all'
type Figures = { run_count: number; last_start: number | null } & Partial<Omit<ProjectStats, 'last_start'>>
const NO_RUNS: Figures = { run_count: 0, last_start: null }

/** Fields that Weir does not have. They are null, because clients expect the keys. */
const UNKNOWN = {
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
    unpriced_runs: figures?.unpriced_runs ?? null,
    last_run_start_time: lastStart,
    last_run_start_time_live: lastStart,
    latency_p50: figures?.latency_p50 ?? null,
    latency_p95: figures?.latency_p95 ?? null,
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
    estimated_prompt_tokens: figures?.estimated_prompt_tokens ?? null,
    estimated_completion_tokens: figures?.estimated_completion_tokens ?? null,
    estimated_cost: figures?.estimated_cost ?? null,
    error_rate: figures?.error_rate ?? null,
    streaming_rate: figures?.streaming_rate ?? null,
  }
}

/** A project in LangSmith's shape. */
export function toSession(project: Project, figures?: Figures): SchemaTypes['session'] {
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
    default_dataset_id: project.default_dataset_id,
    reference_dataset_id: project.reference_dataset_id,
    trace_tier: project.trace_tier,
    retention_days: project.retention_days === 0 ? null : project.retention_days,
    span_filters: [...project.span_filters],
  }
}

/** Projects with their statistics, which are null while the store is down. */
export async function withFigures(
  { reads }: Pick<AppDeps, 'reads'>,
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

/** Statistics of a project without runs. Sums are 0, so that a new project has the same fields as others. */
function noRuns(extent: Extent): Figures {
  if (extent !== 'all') return NO_RUNS
  const tokens = { prompt_tokens: 0, completion_tokens: 0 }
  const estimated = { estimated_prompt_tokens: 0, estimated_completion_tokens: 0 }
  return { ...NO_RUNS, trace_count: 0, llm_runs: 0, unpriced_runs: 0, ...tokens, ...estimated }
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

/** Days that each tier of LangSmith keeps traces. */
export const TIER_DAYS = { shortlived: 14, longlived: 400 } as const

function retentionOf({
  trace_tier,
  retention_days,
}: SessionFields): Pick<ProjectFields, 'trace_tier' | 'retention_days'> {
  const spelt = trace_tier?.toLowerCase().replace('_', '')
  const tier = spelt === 'shortlived' || spelt === 'longlived' ? spelt : null
  return { trace_tier: tier, retention_days: retention_days ?? (tier === null ? null : TIER_DAYS[tier]) }
}

function toFields(body: SessionFields): ProjectFields {
  return {
    name: body.name ?? null,
    description: body.description ?? null,
    extra: (body.extra ?? null) as JsonObject | null,
    reference_dataset_id: parseUuid(body.reference_dataset_id) ?? null,
    start_time: readTime(body, 'start_time'),
    end_time: readTime(body, 'end_time'),
    ...retentionOf(body),
    span_filters: body.span_filters ?? null,
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new AppError('not_found', { message: 'Session not found' })
  return value
}

/** The statistics for a parameter `include_stats`. */
export function extentOf(include_stats: boolean): Extent {
  return include_stats ? 'all' : 'none'
}

function addressRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/sessions/resolutions',
      needs: 'projects:read',
      summary: 'The project that an address names',
      description: 'An EXPERIMENT is named by its id. Agents and evaluators do not exist here: 404.',
      tag: TAG,
      query: {
        kind: wordParameter('The kind of address.', ['AGENT', 'EXPERIMENT', 'EVALUATOR']),
        id: textParameter('Id of the agent or experiment.'),
        environment: textParameter('Of the agent.'),
      },
      reply: 'session-address',
      errors: ['not_found'],
      async handle({ deps, principal, query: { kind, id } }) {
        const session_id = kind === 'EXPERIMENT' ? parseUuid(id) : undefined
        const project = session_id && (await deps.projects.get(principal.workspace_id, session_id))
        const isNamed = project && typeOf(project) === 'EXPERIMENT'
        return { body: { session_id: found(isNamed ? project.id : undefined) } }
      },
    }),
    route({
      method: 'POST',
      path: '/sessions/{id}/dashboard',
      needs: 'projects:read',
      summary: 'Not supported: there are no prebuilt dashboards',
      tag: TAG,
      params: { id: uuidParameter('Id of the project.') },
      body: 'session-dashboard',
      reply: 'bytes',
      errors: ['not_found', 'not_implemented'],
      async handle({ deps, principal, params: { id } }) {
        found(await deps.projects.get(principal.workspace_id, id))
        const message = 'There are no prebuilt dashboards; POST /api/v1/runs/stats has figures over time.'
        throw new AppError('not_implemented', { message })
      },
    }),
  ]
}

/** The type of a project, also of one that was created without a type. */
export function typeOf({ type, reference_dataset_id }: Project): ProjectType {
  return type ?? (reference_dataset_id === null ? 'PROJECT' : 'EXPERIMENT')
}

/** Projects in LangSmith's shape, under LangSmith's name for them. */
export function sessionRoutes(): PlatformRoute[] {
  const params = { id: uuidParameter('Id of the project.') }
  return [
    ...addressRoutes(),
    route({
      method: 'POST',
      path: '/sessions',
      needs: 'projects:create',
      summary: 'Create a project, or with upsert change the one of that name',
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
      needs: 'projects:read',
      summary: 'Read one project',
      revalidates: true,
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
      needs: 'projects:create',
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
