import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import type { Threads } from '../../../runs/threads/threads.ts'
import { flagParameter, integerParameter, textParameter, uuidParameter } from '../../api/parameters.ts'
import type { RouteReply } from '../../api/route.ts'
import { callOf } from '../call-of.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'
import { isGiven } from '../request/given.ts'
import { THREAD_PARAMS } from '../request/thread-params.ts'

const TAG = 'Thread state'
const SUBGRAPHS = flagParameter('With the states of subgraphs that are under way, inside tasks.', false)
const LIMIT = { minimum: 1, maximum: 1000, otherwise: 10 }

/** The checkpoint of a body, which is complete or only an id. */
function checkpointOf(body: Pick<SchemaTypes['thread-state-query'], 'checkpoint' | 'checkpoint_id'>): {
  checkpoint?: JsonObject
} {
  if (isGiven(body.checkpoint)) return { checkpoint: body.checkpoint as JsonObject }
  return isGiven(body.checkpoint_id) ? { checkpoint: { checkpoint_id: body.checkpoint_id } } : {}
}

/** State of threads: the current one, the history, and changes by clients. */
export function threadStateRoutes(): DeploymentRoute[] {
  return [...readRoutes(), updateRoute(), patchRoute(), ...historyRoutes()]
}

function readRoutes(): DeploymentRoute[] {
  const shared = {
    tag: TAG,
    reply: 'bytes',
    reply_schema: 'thread-state',
    errors: ['not_found', 'graph_not_loaded', 'host_unavailable', 'conflict'],
  } as const
  return [
    deploymentRoute({
      ...shared,
      method: 'GET',
      path: '/threads/{thread_id}/state',
      needs: 'threads:read',
      summary: 'Current state of a thread',
      params: THREAD_PARAMS,
      query: { subgraphs: SUBGRAPHS },
      handle: async (context) => ({
        body: await context.deps.threads.state(callOf(context), context.params.thread_id, context.query),
      }),
    }),
    deploymentRoute({
      ...shared,
      method: 'GET',
      path: '/threads/{thread_id}/state/{checkpoint_id}',
      needs: 'threads:read',
      summary: 'State of a thread at a checkpoint',
      params: { ...THREAD_PARAMS, checkpoint_id: uuidParameter('Id of the checkpoint.') },
      query: { subgraphs: SUBGRAPHS },
      async handle(context) {
        const { thread_id, checkpoint_id } = context.params
        const query = { checkpoint: { checkpoint_id }, ...context.query }
        return { body: await context.deps.threads.state(callOf(context), thread_id, query) }
      },
    }),
    deploymentRoute({
      ...shared,
      method: 'POST',
      path: '/threads/{thread_id}/state/checkpoint',
      needs: 'threads:read',
      summary: 'State of a thread at a checkpoint, which may be one of a subgraph',
      params: THREAD_PARAMS,
      body: 'thread-state-query',
      async handle(context) {
        const { params, body } = context
        const query = { ...checkpointOf(body), subgraphs: body.subgraphs ?? false }
        return { body: await context.deps.threads.state(callOf(context), params.thread_id, query) }
      },
    }),
  ]
}

function updateRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'POST',
    path: '/threads/{thread_id}/state',
    needs: 'threads:update',
    summary: 'Change the state of a thread; 409 while a run is active',
    tag: TAG,
    params: THREAD_PARAMS,
    body: 'thread-state-update',
    reply: 'bytes',
    reply_schema: 'thread-state-updated',
    errors: ['not_found', 'thread_busy', 'graph_not_loaded', 'host_unavailable'],
    async handle(context) {
      const { params, body } = context
      const update = {
        values: (body.values ?? null) as JsonValue,
        as_node: body.as_node ?? null,
        ...checkpointOf(body),
      }
      return { body: await context.deps.threads.updateState(callOf(context), params.thread_id, update) }
    },
  })
}

function patchRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'PATCH',
    path: '/threads/{thread_id}/state',
    needs: 'threads:update',
    summary: 'Add to the metadata of a thread, as older clients do',
    tag: TAG,
    params: THREAD_PARAMS,
    body: 'thread-state-patch',
    reply: 'empty-object',
    errors: ['not_found'],
    async handle(context) {
      const metadata = (context.body.metadata ?? {}) as JsonObject
      await context.deps.threads.update(callOf(context), context.params.thread_id, { metadata })
      return { body: {} }
    },
  })
}

function historyRoutes(): DeploymentRoute[] {
  const shared = {
    path: '/threads/{thread_id}/history',
    summary:
      'States of a thread, newest first; X-Pagination-Next has the `before` of the next page when the response was truncated',
    tag: TAG,
    params: THREAD_PARAMS,
    reply: 'bytes',
    reply_schema: 'thread-history',
    errors: ['not_found', 'graph_not_loaded', 'host_unavailable', 'conflict'],
  } as const
  return [
    deploymentRoute({
      ...shared,
      method: 'GET',
      needs: 'threads:read',
      query: {
        limit: integerParameter('Maximum number of records.', LIMIT),
        before: textParameter('Id of a checkpoint: only what is older.'),
      },
      async handle(context) {
        const { limit, before } = context.query
        const query = { limit, before: toBefore(before), metadata: null, checkpoint: null, select: null }
        return historyReply(
          await context.deps.threads.history(callOf(context), context.params.thread_id, query),
        )
      },
    }),
    deploymentRoute({
      ...shared,
      method: 'POST',
      needs: 'threads:read',
      body: 'thread-history-query',
      async handle(context) {
        const { limit, before, metadata, checkpoint, select } = context.body
        const query = {
          limit: limit ?? LIMIT.otherwise,
          before: toBefore(before as string | JsonObject | null | undefined),
          metadata: (metadata ?? null) as JsonObject | null,
          checkpoint: (checkpoint ?? null) as JsonObject | null,
          select: select ?? null,
        }
        return historyReply(
          await context.deps.threads.history(callOf(context), context.params.thread_id, query),
        )
      },
    }),
  ]
}

function historyReply({ body, next }: Awaited<ReturnType<Threads['history']>>): RouteReply<string> {
  return { body, ...(next !== undefined && { headers: { 'x-pagination-next': next } }) }
}

function toBefore(before: string | JsonObject | null | undefined): JsonObject | null {
  if (before === undefined || before === null || before === '') return null
  return typeof before === 'string' ? { checkpoint_id: before } : before
}
