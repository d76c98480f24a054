import type { JsonObject } from '../schema/json.ts'
import type { Tenant } from './model.ts'

/** One entry of the long-term memory; times are epoch milliseconds. */
export interface StoreItem {
  namespace: string[]
  key: string
  /** JSON text, so that nobody has to parse it. */
  value_json: string
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
  visible?: ItemVisible | undefined
  /** Of values that are read; the page is shorter then. Default 32 MB. */
  max_bytes?: number | undefined
  /** What `query` means, where it has been embedded already. */
  vector?: ArrayLike<number> | undefined
}

/** Whether who asks may see an item. */
export type ItemVisible = (item: Pick<StoreItem, 'namespace' | 'key'> & { value: JsonObject }) => boolean

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
  /** Only those with an item that may be seen. */
  visible?: ItemVisible | undefined
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
  /**
   * Last changed first, or nearest in meaning first. `more` when others follow behind the page; `expiring` are those of
   * the page that have a ttl.
   */
  search(
    tenant: Tenant,
    search: ItemSearch,
  ): Promise<{ items: FoundItem[]; more: boolean; expiring: StoreItem[] }>
  /** What a search by meaning compares; undefined where there is none. */
  vectorOf(query: string | null | undefined): Promise<ArrayLike<number> | undefined>
  /** Puts off the end of items that have a ttl. */
  refresh(tenant: Tenant, items: readonly Pick<StoreItem, 'namespace' | 'key'>[]): Promise<void>
  /** Namespaces that have items, in order of their labels. */
  listNamespaces(tenant: Tenant, query: NamespaceQuery): Promise<string[][]>
  /** Deletes what has expired, of all tenants, at most `limit` items; answers how many. */
  sweep(limit: number): Promise<number>
}
