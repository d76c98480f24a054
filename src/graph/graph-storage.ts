import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { Tenant } from '../runs/model.ts'
import type { Lease } from '../runs/run-store.ts'

/** A checkpointer that tells when it has stored all. */
export interface RunCheckpointer extends BaseCheckpointSaver {
  /** Resolves when all that was written is durable. @throws what could not be stored was refused for */
  stored(): Promise<void>
}

/** What graphs keep, as a host has it at hand: opened once per host process. */
export interface GraphStorage {
  /** Checkpoints of a tenant; writing is refused while the thread has a running run. */
  checkpointer(tenant: Tenant): BaseCheckpointSaver
  /**
   * For a run: what is written is stamped with it and refused once the lease is lost (D-44). With `ahead`, writes
   * resolve before they are durable, and the newest checkpoint is read as it was put: from memory.
   */
  runCheckpointer(tenant: Tenant, lease: Lease, ahead: boolean): RunCheckpointer
  /** Newest first: for each checkpoint of the graph itself what changes when anything of it does. */
  marks(
    tenant: Tenant,
    scan: {
      thread_id: string
      checkpoint_id: string | undefined
      before: string | undefined
      limit: number
    },
  ): Promise<readonly { checkpoint_id: string; mark: string }[]>
  /** Long-term memory of a tenant. */
  store(tenant: Tenant): BaseStore
  /** Vectors of texts, with `store.index.embed` of langgraph.json; undefined without it. */
  embed: ((texts: readonly string[]) => Promise<readonly (readonly number[])[]>) | undefined
  close(): Promise<void>
}
