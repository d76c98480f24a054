import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { Tenant } from '../../runs/model.ts'
import type { Lease } from '../../runs/run-store.ts'

/** A checkpointer with a method that waits for its writes. */
export interface RunCheckpointer extends BaseCheckpointSaver {
  /** Resolves when all writes are durable. @throws the error of a refused write */
  stored(): Promise<void>
  /** Undefined, or a promise while too many bytes wait to be stored; it resolves when they are stored or refused. */
  caughtUp(): Promise<void> | undefined
}

/** The storage of graphs in a host: opened once per host process. */
export interface GraphStorage {
  /** Checkpoints of a tenant; writing is refused while the thread has a running run. */
  checkpointer(tenant: Tenant): BaseCheckpointSaver
  /**
   * Checkpoints of a run: the rows contain the run's id, and are refused once the lease is lost (D-44). With `ahead`,
   * writes resolve before they are durable, and the newest checkpoint is read from memory. With `ahead` and `fresh`,
   * nothing is read before the first write, since the thread has no checkpoints.
   */
  runCheckpointer(tenant: Tenant, lease: Lease, options: { ahead: boolean; fresh: boolean }): RunCheckpointer
  /** Marks of the checkpoints of the graph itself, newest first. A mark changes whenever its checkpoint changes. */
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
  /**
   * Returns vectors of texts, computed by `store.index.embed` of langgraph.json. Undefined if langgraph.json has none.
   */
  embed: ((texts: readonly string[]) => Promise<readonly (readonly number[])[]>) | undefined
  close(): Promise<void>
}
