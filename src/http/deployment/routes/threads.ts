import { AppError } from '../../../base/errors.ts'
import { readPaths } from '../../../runs/threads/extract-paths.ts'
import type { ThreadTtl } from '../../../runs/model.ts'
import { threadText } from '../../../runs/threads/json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { wordsParameter } from '../../api/parameters.ts'
import { callOf } from '../call-of.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'
import { isGiven, withoutNulls } from '../request/given.ts'
import { countReply, LIST_ERRORS, listReply } from '../reply/list-reply.ts'
import { sameUuid } from '../request/same-uuid.ts'
import { prefers } from '../request/prefers.ts'
import { THREAD_PARAMS } from '../request/thread-params.ts'

const TAG = 'Threads'
const DEFAULT_LIMIT = 10
const MAX_EXPIRY_MINUTES = 100 * 365 * 24 * 60

type Filters = Pick<SchemaTypes['thread-search'], 'metadata' | 'values' | 'status'>

/** Converts the time to live of a body to a `ThreadTtl`; undefined if none was given. */
function toTtl(ttl: SchemaTypes['thread-ttl-write'] | undefined): { ttl?: ThreadTtl | null } {
  if (ttl === undefined || ttl === null) return ttl === undefined ? {} : { ttl }
  const { ttl: minutes, strategy = 'delete' } = typeof ttl === 'number' ? { ttl } : ttl
  if (minutes > MAX_EXPIRY_MINUTES) {
    throw new AppError('invalid_request', {
      message: `ttl must not be more than ${MAX_EXPIRY_MINUTES} minutes.`,
    })
  }
  return { ttl: { strategy, ttl_minutes: minutes } }
}

function toFilters({ metadata, values, status }: Filters) {
  return withoutNulls({
    ...(metadata !== undefined && { metadata }),
    ...(values !== undefined && { values }),
    ...(status !== undefined && { status }),
  }) as { metadata?: JsonObject; values?: JsonObject; status?: NonNullable<Filters['status']> }
}

/** Threads: conversations that consist of several runs. */
export function threadRoutes(): DeploymentRoute[] {
  return [createRoute(), ...oneRoutes(), updateRoute(), searchRoute(), ...bulkRoutes()]
}

function createRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'POST',
    path: '/threads',
    needs: 'threads:create',
    summary: 'Create a thread',
    tag: TAG,
    body: 'thread-create',
    reply: 'bytes',
    reply_schema: 'thread',
    errors: ['conflict', 'not_found', 'graph_not_loaded', 'host_unavailable', 'quota_reached'],
    async handle(context) {
      const { ttl, ...rest } = context.body
      const thread = await context.deps.threads.create(callOf(context), {
        ...withoutNulls(rest),
        ...toTtl(ttl),
      })
      return { body: threadText(thread) }
    },
  })
}

function oneRoutes(): DeploymentRoute[] {
  return [
    deploymentRoute({
      method: 'GET',
      path: '/threads/{thread_id}',
      needs: 'threads:read',
      summary: 'Read a thread',
      tag: TAG,
      params: THREAD_PARAMS,
      query: { include: wordsParameter('ttl: when the thread ends by itself.') },
      reply: 'bytes',
      reply_schema: 'thread',
      errors: ['not_found'],
      async handle(context) {
        const { params, query } = context
        const thread = await context.deps.threads.get(callOf(context), params.thread_id)
        return { body: threadText(thread, { ttl: query.include.includes('ttl') }) }
      },
    }),
    deploymentRoute({
      method: 'GET',
      path: '/threads/{thread_id}/storage',
      needs: 'threads:read',
      summary: 'Bytes that the checkpoints of a thread take in the store',
      tag: TAG,
      params: THREAD_PARAMS,
      reply: 'thread-storage',
      errors: ['not_found'],
      async handle(context) {
        const { thread_id } = context.params
        const { checkpoints, channels, writes } = await context.deps.threads.storage(
          callOf(context),
          thread_id,
        )
        const ofChannels = Object.values(channels).reduce((sum, bytes) => sum + bytes, 0)
        return {
          body: { thread_id, checkpoints, channels, writes, total: checkpoints + ofChannels + writes },
        }
      },
    }),
    deploymentRoute({
      method: 'DELETE',
      path: '/threads/{thread_id}',
      needs: 'threads:delete',
      summary: 'Delete a thread with its runs and checkpoints; active runs are rolled back first',
      tag: TAG,
      params: THREAD_PARAMS,
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle(context) {
        await context.deps.threads.remove(callOf(context), context.params.thread_id)
        return { body: '' }
      },
    }),
    deploymentRoute({
      method: 'POST',
      path: '/threads/{thread_id}/copy',
      needs: 'threads:create',
      summary: 'Copy a thread with all its checkpoints',
      tag: TAG,
      params: THREAD_PARAMS,
      reply: 'bytes',
      reply_schema: 'thread',
      errors: ['not_found', 'quota_reached'],
      handle: async (context) => ({
        body: threadText(await context.deps.threads.copy(callOf(context), context.params.thread_id)),
      }),
    }),
  ]
}

function updateRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'PATCH',
    path: '/threads/{thread_id}',
    needs: 'threads:update',
    summary: 'Change metadata or ttl of a thread; no body with Prefer: return=minimal',
    tag: TAG,
    params: THREAD_PARAMS,
    body: 'thread-update',
    reply: 'bytes',
    reply_schema: 'thread',
    other_replies: { 204: null },
    errors: ['not_found', 'metadata_too_large'],
    async handle(context) {
      const { metadata, ttl } = context.body
      const change = { ...(isGiven(metadata) && { metadata: metadata as JsonObject }), ...toTtl(ttl) }
      const thread = await context.deps.threads.update(callOf(context), context.params.thread_id, change)
      if (!prefers(context.req, 'minimal')) return { body: threadText(thread) }
      return { status: 204, headers: { 'preference-applied': 'return=minimal' }, body: '' }
    },
  })
}

function searchRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'POST',
    path: '/threads/search',
    needs: 'threads:read',
    summary: 'List threads; X-Pagination-Total has their number, X-Pagination-Next the next offset',
    errors: LIST_ERRORS,
    tag: TAG,
    body: 'thread-search',
    reply: 'bytes',
    reply_schema: 'thread-list',
    async handle(context) {
      const { ids, limit, offset, sort_by, sort_order, select, extract } = context.body
      return listReply(context, {
        list: 'threads',
        search: {
          ...(isGiven(ids) && { ids: ids.map(sameUuid) }),
          ...toFilters(context.body),
          sort_by: sort_by ?? 'created_at',
          sort_order: sort_order ?? 'desc',
          limit: limit ?? DEFAULT_LIMIT,
          offset: offset ?? 0,
        },
        select: select ?? [],
        extract: readPaths((extract ?? {}) as Record<string, string>),
      })
    },
  })
}

function bulkRoutes(): DeploymentRoute[] {
  return [
    deploymentRoute({
      method: 'POST',
      path: '/threads/count',
      needs: 'threads:read',
      summary: 'Count threads',
      tag: TAG,
      body: 'thread-count',
      reply: 'count',
      handle: (context) =>
        countReply(context, {
          list: 'threads',
          search: {
            ...toFilters(context.body),
            sort_by: 'thread_id',
            sort_order: 'asc',
            limit: 0,
            offset: 0,
          },
          select: [],
          extract: [],
        }),
    }),
    deploymentRoute({
      method: 'POST',
      path: '/threads/prune',
      needs: 'threads:delete',
      summary: 'Delete threads, or all but their latest checkpoints',
      tag: TAG,
      body: 'thread-prune',
      reply: 'threads-pruned',
      async handle(context) {
        const ids = context.body.thread_ids.map(sameUuid)
        const strategy = context.body.strategy ?? 'delete'
        return { body: { pruned_count: await context.deps.threads.prune(callOf(context), ids, strategy) } }
      },
    }),
  ]
}
