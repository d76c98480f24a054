import type {
  BaseStore,
  Item,
  Operation,
  OperationResults,
  SearchItem,
} from '@langchain/langgraph-checkpoint'
import { AppError } from '../../../base/errors.ts'
import type { FoundItem, KvStore, StoreItem } from '../../../runs/items/kv-store.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { JsonObject } from '../../../schema/json.ts'

/** What an operation of LangGraph for Python may say about the expiry of items. LangGraph for JavaScript has none of it. */
interface Expiry {
  /** Minutes; null for never, undefined for the deployment's default. */
  ttl?: number | null
  /** Undefined for the deployment's default. */
  refresh_ttl?: boolean
}

/** The method of LangGraph's store on which its other methods are built. */
export type GraphStoreBatch = BaseStore['batch']

function toLibraryItem(
  { namespace, key, value_json, created_at, updated_at }: StoreItem,
  parse: (text: string) => unknown,
): Item {
  const value = parse(value_json) as JsonObject
  return { namespace, key, value, createdAt: new Date(created_at), updatedAt: new Date(updated_at) }
}

function toSearchItem(item: FoundItem, parse: (text: string) => unknown): SearchItem {
  return { ...toLibraryItem(item, parse), ...(item.score === null ? {} : { score: item.score }) }
}

/**
 * The result of `store`, which stores the values of operations as JSON. @throws TypeError with the key of an item whose
 * value has no JSON, such as a bigint; errors of `store`
 */
export async function storing<T>(operations: readonly Operation[], store: () => Promise<T>): Promise<T> {
  try {
    return await store()
  } catch (error) {
    for (const operation of operations) if ('value' in operation) assertJson(operation.key, operation.value)
    throw error
  }
}

function assertJson(key: string, value: unknown): void {
  try {
    JSON.stringify(value)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`The value of "${key}" cannot be stored: ${reason}`, { cause })
  }
}

const TOO_LARGE = 'The items found are larger than the limit of one search: use a smaller `limit`.'

/**
 * A tenant's long-term memory as one method of LangGraph's interface. Within a batch, reads return the state before the
 * writes, and the last of several writes of a key counts. A search whose values exceed `maxBytes` rejects. `parse`
 * reads stored values. The server uses this file, so it must not load LangGraph.
 */
export function createGraphStoreBatch(
  store: KvStore,
  tenant: Tenant,
  maxBytes: number = Number.POSITIVE_INFINITY,
  parse: (text: string) => unknown = JSON.parse,
): GraphStoreBatch {
  /** The result of a read; undefined for writes. */
  async function read(
    operation: Operation & Expiry,
  ): Promise<Item | SearchItem[] | string[][] | null | undefined> {
    if ('value' in operation) return undefined
    if ('namespacePrefix' in operation) {
      const {
        namespacePrefix: namespace_prefix,
        filter,
        query,
        limit = 10,
        offset = 0,
        refresh_ttl,
      } = operation
      const found = await store.search(tenant, {
        namespace_prefix,
        filter: filter as JsonObject | undefined,
        query,
        limit,
        offset,
        refresh_ttl,
        max_bytes: maxBytes,
      })
      // The page was cut because of its size. The graph expects `limit` items and cannot read a next page.
      if (found.more && found.items.length < limit)
        throw new AppError('body_too_large', { message: TOO_LARGE })
      return found.items.map((item) => toSearchItem(item, parse))
    }
    if ('key' in operation) {
      const item = await store.get(tenant, operation.namespace, operation.key, operation.refresh_ttl)
      return item === undefined ? null : toLibraryItem(item, parse)
    }
    const { matchConditions = [], maxDepth: max_depth, limit, offset } = operation
    const labelsOf = (where: 'prefix' | 'suffix') =>
      matchConditions.find(({ matchType }) => matchType === where)?.path
    const [prefix, suffix] = [labelsOf('prefix'), labelsOf('suffix')]
    return await store.listNamespaces(tenant, { prefix, suffix, max_depth, limit, offset })
  }

  return async <Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> => {
    const results = await Promise.all(operations.map(read))
    for (const operation of operations) {
      if (!('value' in operation)) continue
      const { namespace, key, value, index, ttl } = operation as typeof operation & Expiry
      if (value === null) await store.remove(tenant, namespace, key)
      else
        await storing([operation], () =>
          store.put(tenant, { namespace, key, value: value as JsonObject, index, ttl }),
        )
    }
    return results as OperationResults<Op>
  }
}
