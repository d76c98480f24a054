import { AppError } from '../../../base/errors.ts'
import { itemText } from '../../../runs/items/item-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { flagParameter, type Parameter, requiredTextParameter } from '../../api/parameters.ts'
import { type DeploymentRoute, deploymentRoute as route } from '../route.ts'
import { LIST_ERRORS, listReply } from '../reply/list-reply.ts'

const TAG = 'Store'
const DEFAULT_LIMIT = 10
const DEFAULT_NAMESPACES = 100

/** @throws AppError invalid_request in the wording that LangGraph's clients recognize */
function assertLabels(labels: readonly string[]): void {
  if (!labels.some((label) => label === '' || label.includes('.'))) return
  throw new AppError('invalid_request', {
    message: `Namespace labels cannot be empty or contain periods. Received: ${labels.join('.')}`,
  })
}

/** A namespace as text: labels with periods between them. */
const NAMESPACE: Parameter<string[]> = {
  description: 'Labels, with periods between them.',
  required: true,
  schema: { type: 'string', minLength: 1 },
  read(values) {
    const labels = values.flatMap((value) => value.split('.'))
    if (labels.length === 0)
      throw new AppError('invalid_request', { message: 'query.namespace: Field required' })
    assertLabels(labels)
    return labels
  },
}

/** The key of an item. It cannot contain NUL, which Postgres does not store. */
const KEY: Parameter<string> = {
  ...requiredTextParameter('Of the item.'),
  read(values) {
    const key = requiredTextParameter('').read(values)
    if (key.includes('\0'))
      throw new AppError('invalid_request', { message: 'query.key: must not contain NUL' })
    return key
  },
}

function itemRoutes(): DeploymentRoute[] {
  return [
    route({
      method: 'PUT',
      path: '/store/items',
      needs: 'store:update',
      summary: 'Store an item; replaces an item with the same key',
      tag: TAG,
      body: 'store-item-write',
      reply: 'bytes',
      status: 204,
      errors: ['store_full'],
      async handle({ deps, body }) {
        const { namespace, key, value, ttl, index } = body
        assertLabels(namespace)
        await deps.items.put(deps.tenant, {
          namespace,
          key,
          value: value as JsonObject,
          ttl,
          index: index ?? undefined,
        })
        return { body: '' }
      },
    }),
    route({
      method: 'GET',
      path: '/store/items',
      needs: 'store:read',
      summary: 'Read an item; null when there is none',
      tag: TAG,
      query: {
        namespace: NAMESPACE,
        key: KEY,
        refresh_ttl: flagParameter(
          'Whether reading puts off its end; absent for the default of langgraph.json.',
          undefined,
        ),
      },
      reply: 'bytes',
      reply_schema: 'store-item-found',
      async handle({ deps, query: { namespace, key, refresh_ttl } }) {
        const item = await deps.items.get(deps.tenant, namespace, key, refresh_ttl)
        return { body: item === undefined ? 'null' : itemText(item) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/store/items',
      needs: 'store:delete',
      summary: 'Delete an item, if there is one',
      tag: TAG,
      body: 'store-item-key',
      reply: 'bytes',
      status: 204,
      async handle({ deps, body: { namespace, key } }) {
        assertLabels(namespace)
        await deps.items.remove(deps.tenant, namespace, key)
        return { body: '' }
      },
    }),
  ]
}

function searchRoute(): DeploymentRoute {
  return route({
    method: 'POST',
    path: '/store/items/search',
    needs: 'store:read',
    summary: 'Find items; X-Pagination-Next has the offset of the next page, if there is one',
    tag: TAG,
    body: 'store-search',
    reply: 'bytes',
    reply_schema: 'store-search-result',
    errors: LIST_ERRORS,
    async handle(context) {
      const { body } = context
      const namespace_prefix = body.namespace_prefix ?? []
      assertLabels(namespace_prefix)
      const search = {
        namespace_prefix,
        filter: body.filter as JsonObject | null | undefined,
        query: body.query,
        limit: body.limit ?? DEFAULT_LIMIT,
        offset: body.offset ?? 0,
        refresh_ttl: body.refresh_ttl ?? undefined,
      }
      return listReply(context, { list: 'items', search })
    },
  })
}

function namespacesRoute(): DeploymentRoute {
  return route({
    method: 'POST',
    path: '/store/namespaces',
    needs: 'store:read',
    summary: 'List namespaces that have items',
    tag: TAG,
    body: 'store-namespaces',
    reply: 'bytes',
    reply_schema: 'store-namespace-list',
    errors: LIST_ERRORS,
    async handle(context) {
      const { prefix, suffix, max_depth, limit, offset } = context.body
      assertLabels([...(prefix ?? []), ...(suffix ?? [])])
      const query = {
        prefix: prefix ?? undefined,
        suffix: suffix ?? undefined,
        max_depth: max_depth ?? undefined,
        limit: limit ?? DEFAULT_NAMESPACES,
        offset: offset ?? 0,
      }
      return listReply(context, { list: 'namespaces', query })
    },
  })
}

/** The long-term memory of the deployment's graphs. */
export function storeRoutes(): DeploymentRoute[] {
  return [...itemRoutes(), searchRoute(), namespacesRoute()]
}
