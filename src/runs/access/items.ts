import { AppError } from '../../base/errors.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { KvStore, StoreItem } from '../kv-store.ts'
import type { Tenant } from '../model.ts'
import { type AccessEvent, type Ask, type Ruling, sees } from './rulings.ts'

/** What is done with single items. */
export type ItemVerbs = Pick<KvStore, 'put' | 'get' | 'remove'>

/** What filters look at: the fields of the value, and where the item is. */
function factsOf({
  namespace,
  key,
  value,
}: Pick<StoreItem, 'namespace' | 'key'> & { value: JsonObject }): JsonObject {
  return { ...value, namespace, key }
}

/** Whether the user may see an item that is stored. */
function seesItem(ruling: Ruling, item: StoreItem): boolean {
  if (ruling.visible === undefined) return true
  return sees(ruling, factsOf({ ...item, value: JSON.parse(item.value_json) as JsonObject }))
}

/** The long-term memory as one user may see and change it. Handlers may move a request to another namespace. */
export function itemsFor(items: ItemVerbs, ask: Ask): ItemVerbs {
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
    return { ruling, namespace, key, item, seen: item === undefined || seesItem(ruling, item) }
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
  }
}

/** @throws AppError auth_failed when the handler has left something else there */
export function labelsOf(namespace: JsonValue | undefined): string[] {
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
