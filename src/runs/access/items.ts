import { AppError } from '../../base/errors.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { KvStore, NamespaceQuery, StoreItem } from '../kv-store.ts'
import type { Tenant } from '../model.ts'
import { type AccessEvent, type Ask, type Ruling, sees } from './rulings.ts'

const ALL = Number.MAX_SAFE_INTEGER

/** What filters look at: the fields of the value, and where the item is. */
function factsOf({ namespace, key, value }: Pick<StoreItem, 'namespace' | 'key' | 'value'>): JsonObject {
  return { ...value, namespace, key }
}

function itemTest({ visible }: Ruling): ((item: StoreItem) => boolean) | undefined {
  return visible && ((item) => visible(factsOf(item)))
}

/** The long-term memory as one user may see and change it. Handlers may move a request to another namespace. */
export function itemsFor(items: KvStore, ask: Ask): KvStore {
  /** Where the handler lets the user go, and what is there now. */
  const find = async (
    tenant: Tenant,
    event: AccessEvent,
    asked: { namespace: readonly string[]; key: string; value?: JsonObject },
    refresh_ttl?: boolean,
  ) => {
    const ruling = await ask(event, { ...asked, namespace: [...asked.namespace] })
    const namespace = labelsOf(ruling.value['namespace'])
    const key = keyOf(ruling.value['key'])
    const item = await items.get(tenant, namespace, key, refresh_ttl)
    return { ruling, namespace, key, item, seen: item === undefined || sees(ruling, factsOf(item)) }
  }
  return {
    async put(tenant, item) {
      const { value } = item
      const found = await find(
        tenant,
        'store:put',
        { namespace: item.namespace, key: item.key, value },
        false,
      )
      const put = {
        ...item,
        namespace: found.namespace,
        key: found.key,
        value: found.ruling.value['value'] as JsonObject,
      }
      if (!found.seen || !sees(found.ruling, factsOf(put))) throw new AppError('forbidden')
      await items.put(tenant, put)
    },
    async get(tenant, namespace, key, refresh_ttl) {
      const { item, seen } = await find(tenant, 'store:get', { namespace, key }, refresh_ttl)
      return seen ? item : undefined
    },
    async remove(tenant, namespace, key) {
      const found = await find(tenant, 'store:delete', { namespace, key }, false)
      if (found.seen) await items.remove(tenant, found.namespace, found.key)
    },
    ...lists(items, ask),
    sweep: (limit) => items.sweep(limit),
  }
}

function lists(items: KvStore, ask: Ask): Pick<KvStore, 'search' | 'listNamespaces'> {
  return {
    async search(tenant, search) {
      const { namespace_prefix, filter, limit, offset, query } = search
      const ruling = await ask('store:search', {
        namespace: [...namespace_prefix],
        filter: filter ?? {},
        limit,
        offset,
        ...(typeof query === 'string' && { query }),
      })
      const prefix = labelsOf(ruling.value.namespace)
      return items.search(tenant, {
        ...search,
        namespace_prefix: prefix,
        filter: ruling.value.filter,
        visible: itemTest(ruling),
      })
    },
    async listNamespaces(tenant, query) {
      const { prefix = [], suffix = [], max_depth, limit, offset } = query
      const asked = { namespace: [...prefix], suffix: [...suffix], limit, offset }
      const ruling = await ask('store:list_namespaces', {
        ...asked,
        ...(max_depth !== undefined && { max_depth }),
      })
      const wanted = { ...query, prefix: labelsOf(ruling.value.namespace) }
      const visible = itemTest(ruling)
      if (visible === undefined) return items.listNamespaces(tenant, wanted)
      return visibleNamespaces(items, tenant, wanted, visible)
    },
  }
}

/** @throws AppError auth_failed when the handler has left something else there */
function labelsOf(namespace: JsonValue | undefined): string[] {
  const labels = namespace ?? []
  if (Array.isArray(labels) && labels.every((label) => typeof label === 'string')) return labels
  throw new AppError('auth_failed', {
    message: 'The auth handler made a namespace that is no list of texts.',
  })
}

/** @throws AppError auth_failed as `labelsOf` */
function keyOf(key: JsonValue | undefined): string {
  if (typeof key === 'string') return key
  throw new AppError('auth_failed', { message: 'The auth handler made a key that is no text.' })
}

/** Namespaces with an item that may be seen; then cut and paged as asked. */
async function visibleNamespaces(
  items: KvStore,
  tenant: Tenant,
  { max_depth, limit, offset, ...query }: NamespaceQuery,
  visible: (item: StoreItem) => boolean,
): Promise<string[][]> {
  const all = await items.listNamespaces(tenant, { ...query, limit: ALL, offset: 0 })
  const shown = new Map<string, string[]>()
  for (const namespace of all) {
    const cut = namespace.slice(0, max_depth)
    const name = JSON.stringify(cut)
    if (shown.has(name)) continue
    const isHere = (item: StoreItem): boolean => item.namespace.length === namespace.length && visible(item)
    const page = { limit: 1, offset: 0, refresh_ttl: false, visible: isHere }
    const found = await items.search(tenant, { namespace_prefix: namespace, ...page })
    if (found.length > 0) shown.set(name, cut)
  }
  return [...shown.values()].slice(offset, offset + limit)
}
