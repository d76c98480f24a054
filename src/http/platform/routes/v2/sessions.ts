import { AppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import type { Project, ProjectFields } from '../../../../ingest/project-store.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import {
  choicesParameter,
  choiceParameter,
  flagParameter,
  integerParameter,
  optionalChoiceParameter,
  optionalTimeParameter,
  textParameter,
  textsParameter,
  uuidParameter,
  uuidsParameter,
} from '../../../api/parameters.ts'
import { bodyTime, defined, found } from '../../request/body-fields.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'
import { TIER_DAYS, typeOf, withFigures } from '../tracing/sessions.ts'
import { readSessionPage, SORTS } from './session-list.ts'

const TAG = 'API v2: projects'
const PARAMS = { id: uuidParameter('Id of the project.') }
const STATS = flagParameter('Add up its runs.', false)

type Session = SchemaTypes['session-v2']
/** Projects in the shape of API v2, with the figures of their runs if `include_stats`. */
async function sessionsOf(
  { deps, principal: { workspace_id } }: PlatformCaller,
  projects: readonly Project[],
  include_stats: boolean,
): Promise<Session[]> {
  const shown = await withFigures(deps, workspace_id, projects, include_stats ? 'all' : 'none')
  return shown.map(({ retention_days, test_run_number: _number, span_filters: _filters, ...session }, i) => ({
    ...session,
    ...dollars(session),
    type: typeOf(projects[i]!),
    trace_tier: session.trace_tier === null ? null : TIERS[session.trace_tier],
    longlived_ttl_days: session.trace_tier === 'longlived' ? retention_days : null,
  }))
}

const TIERS = { longlived: 'LONG_LIVED', shortlived: 'SHORT_LIVED' } as const
const COSTS = ['total_cost', 'prompt_cost', 'completion_cost', 'estimated_cost'] as const

/** Costs as numbers (S-18). */
function dollars(
  session: Pick<SchemaTypes['session'], (typeof COSTS)[number]>,
): Record<(typeof COSTS)[number], number | null> {
  const entries = COSTS.map((name) => [name, session[name] === null ? null : Number(session[name])])
  return Object.fromEntries(entries) as Record<(typeof COSTS)[number], number | null>
}

async function sessionOf(caller: PlatformCaller, project: Project, include_stats = false): Promise<Session> {
  const [session] = await sessionsOf(caller, [project], include_stats)
  return found(session, 'Session')
}

/** A time of a body in epoch milliseconds. */
function millis<B extends object>(body: B, name: keyof B & string): number | null {
  const micros = bodyTime(body, name)
  return micros === undefined ? null : Math.floor(micros / 1000)
}

type Retention = Pick<Project, 'trace_tier' | 'retention_days'>

/** The retention that a body requests; `before` is the project's current one. */
function retentionOf(
  { trace_tier, longlived_ttl_days }: SchemaTypes['session-update-v2'],
  before: Retention,
): Partial<Retention> {
  const tier = trace_tier ? (trace_tier === 'LONG_LIVED' ? 'longlived' : 'shortlived') : before.trace_tier
  if (!trace_tier && (longlived_ttl_days === undefined || tier === 'shortlived')) return {}
  if (tier === 'shortlived') return { trace_tier: tier, retention_days: TIER_DAYS.shortlived }
  return { trace_tier: 'longlived', retention_days: longlived_ttl_days ?? TIER_DAYS.longlived }
}

function toFields(body: SchemaTypes['session-create-v2']): ProjectFields & { id: string | null } {
  return {
    id: parseUuid(body.id) ?? null,
    type: body.type,
    name: body.name ?? null,
    description: body.description ?? null,
    extra: (body.extra ?? null) as JsonObject | null,
    reference_dataset_id: parseUuid(body.reference_dataset_id) ?? null,
    default_dataset_id: parseUuid(body.default_dataset_id) ?? null,
    start_time: millis(body, 'start_time'),
    end_time: millis(body, 'end_time'),
    ...retentionOf(body, { trace_tier: null, retention_days: null }),
  }
}

/** The project after a change: absent keys are kept, null clears, `extra` is merged by its keys (S-30). */
function revised(body: SchemaTypes['session-update-v2'], before: Project): Partial<Project> {
  const { name, description, extra, default_dataset_id } = body
  return {
    ...(name && { name }),
    ...(description !== undefined && { description }),
    ...(default_dataset_id !== undefined && { default_dataset_id: parseUuid(default_dataset_id) ?? null }),
    ...(body.end_time !== undefined && { end_time: millis(body, 'end_time') }),
    ...(extra !== undefined && { extra: mergedExtra(before.extra, extra as JsonObject | null) }),
    ...retentionOf(body, before),
  }
}

function mergedExtra(before: JsonObject, change: JsonObject | null): JsonObject {
  if (change === null) return {}
  const merged = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged)
}

function refuseUnsupported(query: Record<string, unknown>, names: readonly string[]): void {
  const given = names.find((name) => query[name] !== undefined && [query[name]].flat().length > 0)
  if (given !== undefined)
    throw new AppError('not_implemented', { message: `${given} is not supported on this server.` })
}

const LIST_QUERY = {
  id: uuidsParameter('Only these.'),
  name: textParameter('Only the one of this name.'),
  name_contains: textParameter('Only those whose name contains it, whatever the case.'),
  type: choicesParameter('Only those of these types.', ['PROJECT', 'AGENT', 'EXPERIMENT']),
  reference_dataset_id: uuidsParameter('Only those of these datasets.'),
  metadata: textParameter('JSON of an object that the metadata must contain.'),
  filter: textParameter('LangSmith filter expression on id, name, start_time and metadata.'),
  sort_by: choiceParameter('FEEDBACK is not supported: 501.', SORTS),
  sort_order: optionalChoiceParameter('Default: desc.', ['asc', 'desc']),
  include_stats: flagParameter('Add up the runs of each project of the page.', false),
  include_facets: flagParameter('Taken and not used: there are no facets.', false),
  use_approx_stats: flagParameter('Taken and not used: figures are exact.', false),
  stats_select: textsParameter('Taken and not used: all figures are answered.'),
  stats_start_time: optionalTimeParameter('Not supported: 501.'),
  stats_filter: textParameter('Not supported: 501.'),
  tag_value_id: textsParameter('Not supported: 501.'),
  dataset_version: textParameter('Not supported: 501.'),
  sort_by_feedback_key: textParameter('Not supported: 501.'),
  sort_by_feedback_source: textParameter('Not supported: 501.'),
  page_size: integerParameter('Maximum number of records.', { minimum: 1, maximum: 100, otherwise: 20 }),
  cursor: textParameter('next_cursor of the page before, with all other parameters as there.'),
}
const UNSUPPORTED = [
  'stats_start_time',
  'stats_filter',
  'tag_value_id',
  'dataset_version',
  'sort_by_feedback_key',
  'sort_by_feedback_source',
]

function listRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/v2/sessions',
    needs: 'projects:read',
    summary: 'List projects, page by page',
    description: `Newest first by default; projects without a value for the sort field come last. At most 1,000 projects can be sorted by figures of runs.`,
    tag: TAG,
    query: LIST_QUERY,
    reply: 'session-page-v2',
    errors: ['not_implemented', 'store_unavailable'],
    async handle({ deps, principal, query }) {
      refuseUnsupported(query, UNSUPPORTED)
      const { id, type, reference_dataset_id, name, name_contains, cursor, page_size, ...rest } = query
      const where = defined({
        ids: id.length > 0 ? id : undefined,
        types: type.length > 0 ? type : undefined,
        reference_dataset_ids: reference_dataset_id.length > 0 ? reference_dataset_id : undefined,
        name,
        name_contains,
      })
      const { metadata, filter, sort_by, sort_order } = rest
      const request = { where, metadata, filter, sort_by, sort_order, stats: query.include_stats }
      const isAscending = sort_order === 'asc'
      const page = { request, where, metadata, filter, sort_by, isAscending, page_size, cursor }
      const { projects, next_cursor } = await readSessionPage(deps, principal.workspace_id, page)
      return {
        body: { items: await sessionsOf({ deps, principal }, projects, query.include_stats), next_cursor },
      }
    },
  })
}

/** Projects in API v2. */
export function sessionV2Routes(): PlatformRoute[] {
  return [
    listRoute(),
    route({
      method: 'POST',
      path: '/v2/sessions',
      needs: 'projects:create',
      summary: 'Create a project, or with upsert change the one of that name',
      tag: TAG,
      query: { upsert: flagParameter('Change the project of that name if there is one.', false) },
      body: 'session-create-v2',
      reply: 'session-v2',
      errors: ['conflict'],
      async handle({ deps, principal, query, body }) {
        const project = await deps.projects.create(principal.workspace_id, toFields(body), query)
        return { body: await sessionOf({ deps, principal }, project) }
      },
    }),
    route({
      method: 'GET',
      path: '/v2/sessions/{id}',
      needs: 'projects:read',
      summary: 'Read one project',
      tag: TAG,
      params: PARAMS,
      query: { include_stats: STATS, stats_start_time: optionalTimeParameter('Not supported: 501.') },
      reply: 'session-v2',
      errors: ['not_found', 'not_implemented'],
      async handle({ deps, principal, params: { id }, query }) {
        refuseUnsupported(query, UNSUPPORTED)
        const project = found(await deps.projects.get(principal.workspace_id, id), 'Session')
        return { body: await sessionOf({ deps, principal }, project, query.include_stats) }
      },
    }),
    route({
      method: 'PATCH',
      path: '/v2/sessions/{id}',
      needs: 'projects:create',
      summary: 'Change a project',
      tag: TAG,
      params: PARAMS,
      body: 'session-update-v2',
      reply: 'session-v2',
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, params: { id }, body }) {
        const change = (before: Project): Partial<Project> => revised(body, before)
        const project = await deps.projects.revise(principal.workspace_id, id, change)
        return { body: await sessionOf({ deps, principal }, found(project, 'Session')) }
      },
    }),
  ]
}
