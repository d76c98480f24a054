import { AppError } from '../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../base/ids.ts'
import { assistantJson, unavailableGraphs } from '../../../runs/assistants/json.ts'
import type { Assistant, AssistantChange } from '../../../runs/assistants/store.ts'
import { removeAssistant } from '../../../runs/assistants/remove.ts'
import { withoutOwnKeys } from '../../../schema/config-keys.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { flagParameter, requiredTextParameter } from '../../api/parameters.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentRoute, deploymentRoute as route } from '../route.ts'
import { countReply, LIST_ERRORS, listReply } from '../reply/list-reply.ts'

const TAG = 'Assistants'
const DEFAULT_NAME = 'Untitled'
const DEFAULT_LIMIT = 10
const ALL_COUNTED = { sort_by: 'assistant_id', sort_order: 'asc', limit: 0, offset: 0 } as const

export const ASSISTANT_PARAMS = {
  assistant_id: requiredTextParameter(
    'Id of the assistant, or name of a graph for the one that stands for it.',
  ),
}

function shown({ host }: DeploymentDeps, assistant: Assistant): SchemaTypes['assistant'] {
  return assistantJson(assistant, unavailableGraphs(host.graphs()))
}

function noAssistant(): AppError {
  return new AppError('not_found', { message: 'Assistant not found' })
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw noAssistant()
  return value
}

/** Resolves an id, or the name of a graph, to the id of an existing assistant. @throws AppError not_found */
async function idOf({ findAssistant, tenant }: DeploymentDeps, asked: string): Promise<string> {
  return found(await findAssistant(tenant, asked)).assistant_id
}

/** @throws AppError not_found */
function assertGraph({ host }: DeploymentDeps, graph_id: string): void {
  const names = host.graphs().map((graph) => graph.graph_id)
  if (names.includes(graph_id)) return
  throw new AppError('not_found', {
    message: `Graph "${graph_id}" not found. There are: ${names.join(', ')}.`,
  })
}

function given(value: object | null | undefined): JsonObject | undefined {
  return (value ?? undefined) as JsonObject | undefined
}

function givenConfig(value: object | null | undefined): JsonObject | undefined {
  const config = given(value)
  return config && withoutOwnKeys(config)
}

function createRoute(): DeploymentRoute {
  return route({
    method: 'POST',
    path: '/assistants',
    needs: 'assistants:create',
    summary: 'Create an assistant',
    tag: TAG,
    body: 'assistant-create',
    reply: 'assistant',
    errors: ['not_found', 'conflict', 'quota_reached'],
    async handle({ deps, body }) {
      assertGraph(deps, body.graph_id)
      const { kind, assistant } = await deps.assistants.create(deps.tenant, {
        assistant_id: parseUuid(body.assistant_id) ?? newUuid(),
        graph_id: body.graph_id,
        name: body.name ?? DEFAULT_NAME,
        description: body.description ?? null,
        config: givenConfig(body.config) ?? {},
        context: given(body.context) ?? {},
        metadata: given(body.metadata) ?? {},
      })
      if (kind === 'exists' && body.if_exists !== 'do_nothing')
        throw new AppError('conflict', { message: 'Assistant already exists' })
      return { body: shown(deps, assistant) }
    },
  })
}

function updateRoute(): DeploymentRoute {
  return route({
    method: 'PATCH',
    path: '/assistants/{assistant_id}',
    needs: 'assistants:update',
    summary: 'Create a new version of an assistant',
    description: 'Absent fields are not changed. Existing runs are not affected.',
    tag: TAG,
    params: ASSISTANT_PARAMS,
    body: 'assistant-update',
    reply: 'assistant',
    errors: ['not_found', 'metadata_too_large'],
    async handle({ deps, params, body }) {
      const id = await idOf(deps, params.assistant_id)
      if (typeof body.graph_id === 'string') assertGraph(deps, body.graph_id)
      const change = {
        graph_id: body.graph_id ?? undefined,
        name: body.name ?? undefined,
        description: body.description ?? undefined,
        config: givenConfig(body.config),
        context: given(body.context),
        metadata: given(body.metadata),
      }
      const named = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      return {
        body: shown(deps, found(await deps.assistants.update(deps.tenant, id, named as AssistantChange))),
      }
    },
  })
}

function deleteRoute(): DeploymentRoute {
  return route({
    method: 'DELETE',
    path: '/assistants/{assistant_id}',
    needs: 'assistants:delete',
    summary: 'Delete an assistant, its versions and its crons',
    description: 'The default assistant of a graph is created again at once. Runs are kept.',
    tag: TAG,
    params: ASSISTANT_PARAMS,
    query: {
      delete_threads: flagParameter(
        'Also threads whose `metadata.assistant_id` it is, with their runs.',
        false,
      ),
    },
    reply: 'assistants-deleted',
    errors: ['not_found'],
    async handle(context) {
      const { deps, params, query, principal } = context
      if (query.delete_threads && !principal.permissions.has('threads:delete')) {
        throw new AppError('permission_required', {
          message: 'Forbidden: delete_threads needs the permission threads:delete.',
        })
      }
      const id = await idOf(deps, params.assistant_id)
      const parts = { ...deps, graphs: deps.host.graphs() }
      if (!(await removeAssistant(parts, callOf(context), id, query.delete_threads))) throw noAssistant()
      return { body: [id] }
    },
  })
}

type Filter = SchemaTypes['assistant-count']

function toFilter({ graph_id, name, metadata }: Filter) {
  return { graph_id: graph_id ?? undefined, name: name ?? undefined, metadata: given(metadata) }
}

function searchRoutes(): DeploymentRoute[] {
  return [
    route({
      method: 'POST',
      path: '/assistants/search',
      needs: 'assistants:read',
      summary: 'Find assistants',
      tag: TAG,
      body: 'assistant-search',
      reply: 'bytes',
      reply_schema: 'assistant-list',
      errors: LIST_ERRORS,
      async handle(context) {
        const { body, deps } = context
        const search = {
          ...toFilter(body),
          sort_by: body.sort_by ?? 'created_at',
          sort_order: body.sort_order ?? 'desc',
          limit: body.limit ?? DEFAULT_LIMIT,
          offset: body.offset ?? 0,
        }
        const unavailable = unavailableGraphs(deps.host.graphs())
        return listReply(context, { list: 'assistants', search, select: body.select ?? [], unavailable })
      },
    }),
    route({
      method: 'POST',
      path: '/assistants/count',
      needs: 'assistants:read',
      summary: 'Count assistants',
      tag: TAG,
      body: 'assistant-count',
      reply: 'count',
      handle: (context) =>
        countReply(context, {
          list: 'assistants',
          search: { ...toFilter(context.body), ...ALL_COUNTED },
          select: [],
          unavailable: {},
        }),
    }),
  ]
}

function versionRoutes(): DeploymentRoute[] {
  return [
    route({
      method: 'POST',
      path: '/assistants/{assistant_id}/versions',
      needs: 'assistants:read',
      summary: 'List versions of an assistant, newest first',
      tag: TAG,
      params: ASSISTANT_PARAMS,
      body: 'assistant-versions',
      reply: 'bytes',
      reply_schema: 'assistant-list',
      errors: ['not_found', ...LIST_ERRORS],
      async handle(context) {
        const { deps, params, body } = context
        const assistant_id = await idOf(deps, params.assistant_id)
        const page = {
          metadata: given(body.metadata),
          limit: body.limit ?? DEFAULT_LIMIT,
          offset: body.offset ?? 0,
        }
        const unavailable = unavailableGraphs(deps.host.graphs())
        return listReply(context, { list: 'versions', assistant_id, page, unavailable })
      },
    }),
    route({
      method: 'POST',
      path: '/assistants/{assistant_id}/latest',
      needs: 'assistants:update',
      summary: 'Make a version of an assistant the current one',
      tag: TAG,
      params: ASSISTANT_PARAMS,
      body: 'assistant-latest',
      reply: 'assistant',
      errors: ['not_found'],
      async handle({ deps, params, body }) {
        const id = await idOf(deps, params.assistant_id)
        const assistant = await deps.assistants.setLatest(deps.tenant, id, body.version)
        if (assistant === undefined) {
          throw new AppError('not_found', { message: `The assistant has no version ${body.version}.` })
        }
        return { body: shown(deps, assistant) }
      },
    }),
  ]
}

export function assistantRoutes(): DeploymentRoute[] {
  return [
    createRoute(),
    ...searchRoutes(),
    route({
      method: 'GET',
      path: '/assistants/{assistant_id}',
      needs: 'assistants:read',
      summary: 'Read an assistant',
      tag: TAG,
      params: ASSISTANT_PARAMS,
      reply: 'assistant',
      errors: ['not_found'],
      async handle({ deps, params }) {
        const id = await idOf(deps, params.assistant_id)
        return { body: shown(deps, found(await deps.assistants.get(deps.tenant, id))) }
      },
    }),
    updateRoute(),
    deleteRoute(),
    ...versionRoutes(),
  ]
}
