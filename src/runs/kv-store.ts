import type { JsonObject } from '../schema/json.ts'
import type { Tenant } from './model.ts'

/** One entry of the long-term memory; times are epoch milliseconds. */
export interface StoreItem {
  namespace: string[]
  key: string
  value: JsonObject
  created_at: number
  updated_at: number
}

/** What to keep of an item. */
export interface ItemWrite {
  namespace: readonly string[]
  key: string
  value: JsonObject
  /** Minutes until it is gone; null for never, undefined for the deployment's default. */
  ttl?: number | null | undefined
  /** Which fields a search by meaning looks at; false for none, undefined for the deployment's. */
  index?: readonly string[] | false | undefined
}

/** Which items to find. */
export interface ItemSearch {
  namespace_prefix: readonly string[]
  /** By field of the value: a value that it must contain, or operators `$eq $ne $gt $gte $lt $lte $in $nin`. */
  filter?: JsonObject | null | undefined
  /** Orders by nearness of meaning where the deployment has an embedding function; elsewhere it is ignored. */
  query?: string | null | undefined
  limit: number
  offset: number
  /** Undefined for the deployment's default. */
  refresh_ttl?: boolean | undefined
  /** Only these. */
  visible?: ((item: StoreItem) => boolean) | undefined
}

/** An item that was found; `score` is null unless it was found by meaning. */
export interface FoundItem extends StoreItem {
  score: number | null
}

/** Which namespaces to list; `*` in a prefix or suffix stands for any one label. */
export interface NamespaceQuery {
  prefix?: readonly string[] | undefined
  suffix?: readonly string[] | undefined
  /** Cuts namespaces to so many labels. */
  max_depth?: number | undefined
  limit: number
  offset: number
}

/**
 * Long-term memory of a tenant's graphs: values by namespace and key. Items that have expired are not there, whether
 * or not they have been swept yet. Any labels and keys are taken; what clients may use is for the routes to check.
 */
export interface KvStore {
  /** Makes or replaces the item; `created_at` stays. */
  put(tenant: Tenant, item: ItemWrite): Promise<void>
  get(
    tenant: Tenant,
    namespace: readonly string[],
    key: string,
    refresh_ttl?: boolean,
  ): Promise<StoreItem | undefined>
  /** Nothing happens when it is not there. */
  remove(tenant: Tenant, namespace: readonly string[], key: string): Promise<void>
  /** Last changed first, or nearest in meaning first. */
  search(tenant: Tenant, search: ItemSearch): Promise<FoundItem[]>
  /** Namespaces that have items, in order of their labels. */
  listNamespaces(tenant: Tenant, query: NamespaceQuery): Promise<string[][]>
  /** Deletes what has expired, of all tenants, at most `limit` items; answers how many. */
  sweep(limit: number): Promise<number>
}
