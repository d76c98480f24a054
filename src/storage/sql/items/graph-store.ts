import { BaseStore } from '@langchain/langgraph-checkpoint'
import type { KvStore } from '../../../runs/items/kv-store.ts'
import type { Tenant } from '../../../runs/model.ts'
import { createGraphStoreBatch, type GraphStoreBatch } from './graph-store-batch.ts'

class GraphStore extends BaseStore {
  override readonly batch: GraphStoreBatch

  constructor(batch: GraphStoreBatch) {
    super()
    this.batch = batch
  }
}

/** A tenant's long-term memory in LangGraph's interface. */
export function createGraphStore(store: KvStore, tenant: Tenant): BaseStore {
  return new GraphStore(createGraphStoreBatch(store, tenant))
}
