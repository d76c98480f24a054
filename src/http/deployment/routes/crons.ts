import { AppError } from '../../../base/errors.ts'
import { cronJson } from '../../../runs/crons/json.ts'
import type { CronChange, CronRequest } from '../../../runs/crons/crons.ts'
import type { RunRequest } from '../../../runs/runs.ts'
import { parseUuid } from '../../../base/ids.ts'
import { withoutRuntimeKeys } from '../../../schema/config-keys.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { parseTime } from '../../../trace/derive/time.ts'
import { uuidParameter } from '../../api/parameters.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentRoute, deploymentRoute as route } from '../route.ts'
import { countReply, LIST_ERRORS, listReply } from '../reply/list-reply.ts'

const TAG = 'Crons'
const DEFAULT_LIMIT = 10
const PARAMS = { cron_id: uuidParameter('Id of the cron.') }

/** Fields of a body that belong to the request of the cron's runs. */
const RUN_FIELDS = [
  'input',
  'command',
  'config',
  'context',
  'webhook',
  'interrupt_before',
  'interrupt_after',
  'stream_mode',
  'stream_subgraphs',
  'stream_resumable',
  'durability',
  'checkpoint_during',
  'multitask_strategy',
] as const
/** Fields that a client deletes by sending null. */
const CLEARABLE: ReadonlySet<string> = new Set(['input', 'webhook'])

type Body = SchemaTypes['cron-create'] | SchemaTypes['cron-update']

/**
 * Converts a time to epoch milliseconds; null and undefined are returned unchanged. @throws AppError invalid_request
 */
function endTime(text: string | null | undefined): number | null | undefined {
  if (text === null || text === undefined) return text
  const time = parseTime(text)
  if (time === undefined)
    throw new AppError('invalid_request', { message: 'end_time must be an ISO 8601 time.' })
  return Math.floor(time / 1000)
}

function runFields(body: Body): Partial<RunRequest> {
  const named = RUN_FIELDS.flatMap((field) => {
    const value = body[field]
    if (value === undefined || (value === null && !CLEARABLE.has(field))) return []
    return [[field, field === 'config' ? withoutRuntimeKeys(value as JsonObject) : value]]
  })
  return Object.fromEntries(named) as Partial<RunRequest>
}

/** The fields about the cron itself, from bodies of both kinds; absent ones are left out. */
function cronFields(body: Body): Omit<CronChange, 'payload' | 'schedule'> {
  const { timezone, enabled, on_run_completed, metadata } = body
  const end_time = endTime(body.end_time)
  return {
    ...(timezone !== undefined && { timezone }),
    ...(end_time !== undefined && { end_time }),
    ...(typeof enabled === 'boolean' && { enabled }),
    ...(typeof on_run_completed === 'string' && { on_run_completed }),
    ...(metadata && { metadata: metadata as JsonObject }),
  }
}

function toRequest(body: SchemaTypes['cron-create']): CronRequest {
  const { schedule, assistant_id } = body
  return { ...cronFields(body), schedule, payload: { ...runFields(body), assistant_id } }
}

function toChange(body: SchemaTypes['cron-update']): CronChange {
  const { schedule, assistant_id } = body
  return {
    ...cronFields(body),
    ...(typeof schedule === 'string' && { schedule }),
    payload: { ...runFields(body), ...(typeof assistant_id === 'string' && { assistant_id }) },
  }
}

function createRoutes(): DeploymentRoute[] {
  const shared = {
    method: 'POST',
    needs: 'crons:create',
    tag: TAG,
    body: 'cron-create',
    reply: 'cron',
    errors: ['not_found', 'quota_reached'],
  } as const
  return [
    route({
      ...shared,
      path: '/runs/crons',
      summary: 'Create a cron whose runs each have a thread of their own',
      handle: async (context) => ({
        body: cronJson(await context.deps.crons.create(callOf(context), null, toRequest(context.body))),
      }),
    }),
    route({
      ...shared,
      path: '/threads/{thread_id}/runs/crons',
      summary: 'Create a cron on a thread',
      params: { thread_id: uuidParameter('Id of the thread.') },
      async handle(context) {
        const { deps, params, body } = context
        return { body: cronJson(await deps.crons.create(callOf(context), params.thread_id, toRequest(body))) }
      },
    }),
  ]
}

/** The filter of a body; null if it names an unknown assistant. */
async function toFilter({ findAssistant, tenant }: DeploymentDeps, body: SchemaTypes['cron-count']) {
  const { assistant_id: asked, thread_id, enabled, metadata } = body
  const assistant_id =
    typeof asked === 'string'
      ? (parseUuid(asked) ?? (await findAssistant(tenant, asked))?.assistant_id)
      : asked
  if (assistant_id === undefined && typeof asked === 'string') return null
  return {
    assistant_id: assistant_id ?? undefined,
    thread_id: parseUuid(thread_id),
    enabled: enabled ?? undefined,
    metadata: (metadata ?? undefined) as JsonObject | undefined,
  }
}

function searchRoutes(): DeploymentRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/crons/search',
      needs: 'crons:read',
      summary: 'Find crons',
      tag: TAG,
      body: 'cron-search',
      reply: 'bytes',
      reply_schema: 'cron-list',
      errors: LIST_ERRORS,
      async handle(context) {
        const { deps, body } = context
        const filter = await toFilter(deps, body)
        if (filter === null) return { headers: { 'x-pagination-total': 0 }, body: '[]' }
        const { limit, offset, sort_by, sort_order, select } = body
        const search = {
          ...filter,
          limit: limit ?? DEFAULT_LIMIT,
          offset: offset ?? 0,
          sort_by: sort_by ?? 'created_at',
          sort_order: sort_order ?? 'desc',
        } as const
        const now = select?.includes('now') === true ? new Date(deps.clock.now()).toISOString() : null
        return listReply(context, { list: 'crons', search, select: select ?? [], now })
      },
    }),
    route({
      method: 'POST',
      path: '/runs/crons/count',
      needs: 'crons:read',
      summary: 'Count crons',
      tag: TAG,
      body: 'cron-count',
      reply: 'count',
      async handle(context) {
        const filter = await toFilter(context.deps, context.body)
        if (filter === null) return { body: 0 }
        const search = { ...filter, sort_by: 'cron_id', sort_order: 'asc', limit: 0, offset: 0 } as const
        return countReply(context, { list: 'crons', search, select: [], now: null })
      },
    }),
  ]
}

/** Scheduled runs. */
export function cronRoutes(): DeploymentRoute[] {
  return [
    ...createRoutes(),
    ...searchRoutes(),
    route({
      method: 'GET',
      path: '/runs/crons/{cron_id}',
      needs: 'crons:read',
      summary: 'Read a cron',
      tag: TAG,
      params: PARAMS,
      reply: 'cron',
      errors: ['not_found'],
      handle: async (context) => ({
        body: cronJson(await context.deps.crons.get(callOf(context), context.params.cron_id)),
      }),
    }),
    route({
      method: 'PATCH',
      path: '/runs/crons/{cron_id}',
      needs: 'crons:update',
      summary: 'Change a cron',
      description: 'Absent fields are not changed. Existing runs are not affected.',
      tag: TAG,
      params: PARAMS,
      body: 'cron-update',
      reply: 'cron',
      errors: ['not_found', 'metadata_too_large'],
      async handle(context) {
        const { deps, params, body } = context
        return { body: cronJson(await deps.crons.update(callOf(context), params.cron_id, toChange(body))) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/runs/crons/{cron_id}',
      needs: 'crons:delete',
      summary: 'Delete a cron',
      description: 'Runs that it created are kept.',
      tag: TAG,
      params: PARAMS,
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle(context) {
        await context.deps.crons.remove(callOf(context), context.params.cron_id)
        return { body: '' }
      },
    }),
  ]
}
