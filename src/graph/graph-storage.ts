import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { Tenant } from '../runs/model.ts'
import type { Lease } from '../runs/run-store.ts'

/** What graphs keep, as a host has it at hand: opened once per host process. */
export interface GraphStorage {
  /**
   * Checkpoints of a tenant. With a lease, what is written is stamped with its run and refused once the lease is
   * lost (D-44); without one, writing is refused while the thread has a running run.
   */
  checkpointer(tenant: Tenant, lease: Lease | null): BaseCheckpointSaver
  /** Long-term memory of a tenant. */
  store(tenant: Tenant): BaseStore
  /** Vectors of texts, with `store.index.embed` of langgraph.json; undefined without it. */
  embed: ((texts: readonly string[]) => Promise<readonly (readonly number[])[]>) | undefined
  close(): Promise<void>
}
