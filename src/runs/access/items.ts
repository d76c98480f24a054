import { AppError } from '../../base/errors.ts'
import { parseExact } from '../../schema/exact-json.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import { LARGE_JSON_CHARS, toJsonText } from '../../schema/raw-json.ts'
import type { LargeItems } from '../items/large-items.ts'
import type { KvStore, StoreItem } from '../items/kv-store.ts'
import type { Tenant } from '../model.ts'
import { type AccessEvent, type Ask, type Ruling, passesRuling } from './rulings.ts'

/** Operations on single items. */
export type ItemVerbs = Pick<KvStore, 'put' | 'get' | 'remove'>

interface ItemFacts {
  namespace: readonly string[]
  key: string
  json: string
}

/** Whether the user may see an item: filters are matched against the fields of its value, its namespace and its key. */
async function passes(
  ruling: Ruling,
  { namespace, key, json }: ItemFacts,
  large: LargeItems,
): Promise<boolean> {
  if (ruling.visible === undefined || ruling.filter === null) return true
  const others = { namespace: [...namespace], key }
  if (json.length > LARGE_JSON_CHARS) return await large.matches(json, others, ruling.filter)
  return passesRuling(ruling, { ...(parseExact(json) as JsonObject), ...others })
}

interface Found {
  ruling: Ruling
  namespace: string[]
  key: string
}

/** The long-term memory with the permissions of one user. Handlers may change the namespace of a request. */
export function itemsFor(items: ItemVerbs, ask: Ask, large: LargeItems): ItemVerbs {
  const sees = (ruling: Ruling, item: StoreItem): Promise<boolean> =>
    passes(ruling, { ...item, json: item.value_json }, large)
  /** The namespace and key of the request after the handler's changes. */
  const find = async (
    event: AccessEvent,
    asked: { namespace: readonly string[]; key: string; value?: JsonObject },
  ): Promise<Found> => {
    const ruling = await ask(event, { ...asked, namespace: [...asked.namespace] })
    const namespace = labelsOf(ruling.value['namespace'])
    const key = keyOf(ruling.value['key'])
    return { ruling, namespace, key }
  }
  /** Whether the user may see the stored item; it is read only if a filter needs it. */
  const seesStored = async (tenant: Tenant, { ruling, namespace, key }: Found): Promise<boolean> => {
    if (ruling.visible === undefined) return true
    const item = await items.get(tenant, namespace, key, false)
    return item === undefined || (await sees(ruling, item))
  }
  return {
    async put(tenant, item) {
      const { value } = item
      const found = await find('store:put', { namespace: item.namespace, key: item.key, value })
      const put = {
        ...item,
        namespace: found.namespace,
        key: found.key,
        value: found.ruling.value['value'] as JsonObject,
      }
      const isFiltered = found.ruling.visible !== undefined
      if (isFiltered && !(await passes(found.ruling, { ...put, json: toJsonText(put.value) }, large)))
        throw new AppError('forbidden')
      if (!(await seesStored(tenant, found))) throw new AppError('forbidden')
      await items.put(tenant, put)
    },
    async get(tenant, namespace, key, refresh_ttl) {
      const found = await find('store:get', { namespace, key })
      const item = await items.get(tenant, found.namespace, found.key, refresh_ttl)
      return item !== undefined && (await sees(found.ruling, item)) ? item : undefined
    },
    async remove(tenant, namespace, key) {
      const found = await find('store:delete', { namespace, key })
      if (await seesStored(tenant, found)) await items.remove(tenant, found.namespace, found.key)
    },
  }
}

/** @throws AppError auth_failed when the handler's value is not a namespace */
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
