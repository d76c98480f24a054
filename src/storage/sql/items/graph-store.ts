import {
  BaseStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
} from '@langchain/langgraph-checkpoint'
import { AppError } from '../../../base/errors.ts'
import type { FoundItem, KvStore, StoreItem } from '../../../runs/items/kv-store.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { JsonObject } from '../../../schema/json.ts'

function toLibraryItem({ namespace, key, value_json, created_at, updated_at }: StoreItem): Item {
  const value = JSON.parse(value_json) as JsonObject
  return { namespace, key, value, createdAt: new Date(created_at), updatedAt: new Date(updated_at) }
}

function toSearchItem(item: FoundItem): SearchItem {
  return { ...toLibraryItem(item), ...(item.score === null ? {} : { score: item.score }) }
}

class GraphStore extends BaseStore {
  readonly #store: KvStore
  readonly #tenant: Tenant

  readonly #maxBytes: number

  constructor(store: KvStore, tenant: Tenant, maxBytes: number) {
    super()
    this.#store = store
    this.#tenant = tenant
    this.#maxBytes = maxBytes
  }

  /** Reads return the state before the writes; of several writes of a key the last counts. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results = await Promise.all(operations.map((operation) => this.#read(operation)))
    for (const operation of operations) {
      if (!('value' in operation)) continue
      const { namespace, key, value, index } = operation
      if (value === null) await this.#store.remove(this.#tenant, namespace, key)
      else await this.#store.put(this.#tenant, { namespace, key, value: value as JsonObject, index })
    }
    return results as OperationResults<Op>
  }

  /** Undefined for writes. */
  async #read(operation: Operation): Promise<Item | SearchItem[] | string[][] | null | undefined> {
    if ('value' in operation) return undefined
    if ('namespacePrefix' in operation) {
      const { namespacePrefix: namespace_prefix, filter, query, limit = 10, offset = 0 } = operation
      const found = await this.#store.search(this.#tenant, {
        namespace_prefix,
        filter: filter as JsonObject | undefined,
        query,
        limit,
        offset,
        max_bytes: this.#maxBytes,
      })
      // The graph expects `limit` items, and has no way to read a next page.
      if (found.more && found.items.length < limit)
        throw new AppError('body_too_large', { message: TOO_LARGE })
      return found.items.map(toSearchItem)
    }
    if ('key' in operation) {
      const item = await this.#store.get(this.#tenant, operation.namespace, operation.key)
      return item === undefined ? null : toLibraryItem(item)
    }
    const { matchConditions = [], maxDepth: max_depth, limit, offset } = operation
    const labelsOf = (where: 'prefix' | 'suffix') =>
      matchConditions.find(({ matchType }) => matchType === where)?.path
    const [prefix, suffix] = [labelsOf('prefix'), labelsOf('suffix')]
    return await this.#store.listNamespaces(this.#tenant, { prefix, suffix, max_depth, limit, offset })
  }
}

const TOO_LARGE = 'The items found are larger than the limit of one search: use a smaller `limit`.'

/** A tenant's long-term memory in LangGraph's interface. A search that finds more than `maxBytes` of values rejects. */
export function createGraphStore(
  store: KvStore,
  tenant: Tenant,
  maxBytes: number = Number.POSITIVE_INFINITY,
): BaseStore {
  return new GraphStore(store, tenant, maxBytes)
}
