import { AppError } from '../../base/errors.ts'
import type { AssistantStore } from '../assistants/store.ts'
import type { AccessFilter, ListRequest, Lists } from '../lists/lists.ts'
import type { Call } from '../runs.ts'
import { labelsOf } from './items.ts'
import type { Ask } from './rulings.ts'
import type { RunChecks } from './run-checks.ts'
import { searchValue } from './threads.ts'

export interface ListsForDeps {
  lists: Lists
  /** The assistants that the user may see. */
  assistants: Pick<AssistantStore, 'get'>
  checks: Pick<RunChecks, 'thread'>
}

/** Lists with the permissions of one user. The auth handlers are called before anything is read. */
export function listsFor(deps: ListsForDeps, ask: Ask): Lists {
  return {
    async read(call, request, gone) {
      const allowed = await allow(deps, ask, call, request)
      return deps.lists.read(call, allowed.request, gone, allowed.filter)
    },
  }
}

type Allowed = { request: ListRequest; filter: AccessFilter }

/** The request after the changes of the auth handlers, and the filter that they returned. */
async function allow(deps: ListsForDeps, ask: Ask, call: Call, request: ListRequest): Promise<Allowed> {
  switch (request.list) {
    case 'threads':
      return { request, filter: (await ask('threads:search', searchValue(request.search))).filter }
    case 'runs':
      if (request.thread_id === null)
        throw new AppError('forbidden', {
          message: 'The runs of all threads are listed for API keys only. List the runs of a thread.',
        })
      await deps.checks.thread(call, request.thread_id, 'threads:read')
      return { request, filter: null }
    case 'versions':
      if ((await deps.assistants.get(call.tenant, request.assistant_id)) !== undefined)
        return { request, filter: null }
      throw new AppError('not_found', { message: 'Assistant not found' })
    case 'assistants': {
      const { graph_id, metadata = {}, limit, offset } = request.search
      const asked = { metadata, limit, offset, ...(graph_id !== undefined && { graph_id }) }
      return { request, filter: (await ask('assistants:search', asked)).filter }
    }
    case 'crons': {
      const { assistant_id, thread_id, limit, offset } = request.search
      const asked = { limit, offset, ...(assistant_id && { assistant_id }), ...(thread_id && { thread_id }) }
      return { request, filter: (await ask('crons:search', asked)).filter }
    }
    case 'items':
      return allowItems(ask, request)
    case 'namespaces':
      return allowNamespaces(ask, request)
  }
}

async function allowItems(ask: Ask, request: Extract<ListRequest, { list: 'items' }>): Promise<Allowed> {
  const { namespace_prefix, filter, limit, offset, query } = request.search
  const ruling = await ask('store:search', {
    namespace: [...namespace_prefix],
    filter: filter ?? {},
    limit,
    offset,
    ...(typeof query === 'string' && { query }),
  })
  const { namespace, filter: wanted } = ruling.value
  const search = { ...request.search, namespace_prefix: labelsOf(namespace), filter: wanted }
  return { request: { ...request, search }, filter: ruling.filter }
}

async function allowNamespaces(
  ask: Ask,
  request: Extract<ListRequest, { list: 'namespaces' }>,
): Promise<Allowed> {
  const { prefix = [], suffix = [], max_depth, limit, offset } = request.query
  const asked = { namespace: [...prefix], suffix: [...suffix], limit, offset }
  const ruling = await ask('store:list_namespaces', {
    ...asked,
    ...(max_depth !== undefined && { max_depth }),
  })
  const query = { ...request.query, prefix: labelsOf(ruling.value.namespace) }
  return { request: { ...request, query }, filter: ruling.filter }
}
