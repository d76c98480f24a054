import type { JsonObject } from '../../schema/json.ts'
import type { Tenant } from '../model.ts'

/** One entry of the long-term memory; times are epoch milliseconds. */
export interface StoreItem {
  namespace: string[]
  key: string
  /** JSON text, which is passed on unparsed. */
  value_json: string
  created_at: number
  updated_at: number
}

export interface ItemWrite {
  namespace: readonly string[]
  key: string
  value: JsonObject
  /** Minutes until it expires; null for never, undefined for the deployment's default. */
  ttl?: number | null | undefined
  /** The fields that a semantic search compares; false for none, undefined for the deployment's default. */
  index?: readonly string[] | false | undefined
}

export interface ItemSearch {
  namespace_prefix: readonly string[]
  /**
   * Conditions by field of the value: a value that the field must contain, or operators `$eq $ne $gt $gte $lt
   * $lte $in $nin`.
   */
  filter?: JsonObject | null | undefined
  /** Orders by semantic similarity if the deployment has an embedding function; otherwise ignored. */
  query?: string | null | undefined
  limit: number
  offset: number
  /** Undefined for the deployment's default. */
  refresh_ttl?: boolean | undefined
  /** Only items that satisfy this condition; default: all. */
  visible?: ItemVisible | undefined
  /** Maximum bytes of values of a page. A page that would be larger ends early. Default 32 MB. */
  max_bytes?: number | undefined
  /** The embedding of `query`, if it was computed already. */
  vector?: ArrayLike<number> | undefined
}

/** Whether the caller may see an item. */
export type ItemVisible = (item: Pick<StoreItem, 'namespace' | 'key'> & { value: JsonObject }) => boolean

/** An item that was found; `score` is null except in a semantic search. */
export interface FoundItem extends StoreItem {
  score: number | null
}

/** The namespaces to list; `*` in a prefix or suffix matches any one label. */
export interface NamespaceQuery {
  prefix?: readonly string[] | undefined
  suffix?: readonly string[] | undefined
  /** Maximum number of labels; longer namespaces are cut to this length. */
  max_depth?: number | undefined
  limit: number
  offset: number
  /** Only namespaces with an item that satisfies this condition; default: all. */
  visible?: ItemVisible | undefined
}

/**
 * Long-term memory of a tenant's graphs: values by namespace and key. Expired items are never returned, even before
 * they are swept. All labels and keys are accepted; the routes check which ones clients may use.
 */
export interface KvStore {
  /** Creates or replaces the item; a replaced item keeps its `created_at`. */
  put(tenant: Tenant, item: ItemWrite): Promise<void>
  get(
    tenant: Tenant,
    namespace: readonly string[],
    key: string,
    refresh_ttl?: boolean,
  ): Promise<StoreItem | undefined>
  /** Removes the item; has no effect if the item does not exist. */
  remove(tenant: Tenant, namespace: readonly string[], key: string): Promise<void>
  /**
   * Items, last changed first, or nearest first in a semantic search. `more` is true if the page is not the last;
   * `expiring` are the items of the page that have a ttl.
   */
  search(
    tenant: Tenant,
    search: ItemSearch,
  ): Promise<{ items: FoundItem[]; more: boolean; expiring: StoreItem[] }>
  /** The embedding of a query; undefined without a query or an index. */
  vectorOf(query: string | null | undefined): Promise<ArrayLike<number> | undefined>
  /** Extends the expiry of items that have a ttl. */
  refresh(tenant: Tenant, items: readonly Pick<StoreItem, 'namespace' | 'key'>[]): Promise<void>
  /** Namespaces that have items, in order of their labels. */
  listNamespaces(tenant: Tenant, query: NamespaceQuery): Promise<string[][]>
  /** Deletes expired items of all tenants, at most `limit`; returns the number. */
  sweep(limit: number): Promise<number>
}
