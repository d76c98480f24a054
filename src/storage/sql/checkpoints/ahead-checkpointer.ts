import type { RunnableConfig } from '@langchain/core/runnables'
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
} from '@langchain/langgraph-checkpoint'
import type { Tenant } from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import { checkpointIdOf, checkpointNamespace } from './config.ts'
import type { CheckpointRows } from './queue.ts'
import { toTuple } from './reader.ts'
import type { CheckpointRow } from './rows.ts'
import { type Shared, SqlCheckpointer } from './sql-checkpointer.ts'

/** Maximum bytes that may wait to be stored while the graph continues. */
const MAX_AHEAD_BYTES = 16 << 20

/** Characters of the rows, as an estimate of their bytes. */
function sizeOf({ checkpoints = [], blobs = [], writes = [] }: Partial<CheckpointRows>): number {
  let size = 0
  for (const { checkpoint, refs, metadata } of checkpoints)
    size += checkpoint.length + refs.length + metadata.length
  for (const { value } of [...blobs, ...writes]) size += value.length
  return size
}

/** A checkpointer whose writes resolve before they are stored; see `Checkpointers.openAhead`. */
export class AheadCheckpointer extends SqlCheckpointer {
  readonly #shared: Shared
  readonly #thread_id: string
  /** The newest checkpoint of the graph itself (not of a subgraph), as LangGraph passed it. */
  #newest: { row: CheckpointRow; values: Record<string, unknown> } | undefined
  #lastRow: CheckpointRow | undefined
  /** The checkpoint that a task has written to last. */
  #writtenTo: string | undefined
  #failure: { error: unknown } | undefined
  #waitingBytes = 0

  /** True if the thread had no checkpoints when the run began, and nothing has been written since. */
  #fresh: boolean

  constructor(shared: Shared, tenant: Tenant, lease: Lease, fresh: boolean) {
    super(shared, tenant, lease)
    this.#shared = shared
    this.#thread_id = lease.thread_id
    this.#fresh = fresh
  }

  /**
   * Returns the newest checkpoint from memory. If tasks have written to it, reads it from the database, which combines
   * their writes.
   */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (this.#fresh && config.configurable?.['thread_id'] === this.#thread_id) return undefined
    const newest = this.#newest
    if (newest === undefined || checkpointIdOf(config) !== undefined) return super.getTuple(config)
    const { row, values } = newest
    const { thread_id, checkpoint_ns } = checkpointNamespace(config)
    const isOther = thread_id !== row.thread_id || checkpoint_ns !== row.checkpoint_ns
    if (isOther || row.checkpoint_id === this.#writtenTo) return super.getTuple(config)
    const channels = Object.keys(JSON.parse(row.refs) as object)
    const stored = Object.fromEntries(channels.map((channel) => [channel, values[channel]]))
    return toTuple(this.source, row, stored, [])
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const put = await super.put(config, checkpoint, metadata, newVersions)
    const row = this.#lastRow
    if (row?.checkpoint_id === checkpoint.id) this.#newest = { row, values: checkpoint.channel_values }
    return put
  }

  override async stored(): Promise<void> {
    await this.#shared.rows.queue.settled(this.#thread_id)
    if (this.#failure !== undefined) throw this.#failure.error
  }

  override caughtUp(): Promise<void> | undefined {
    return this.#waitingBytes > MAX_AHEAD_BYTES ? this.#shared.rows.queue.settled(this.#thread_id) : undefined
  }

  protected override async write(thread_id: string, rows: Partial<CheckpointRows>): Promise<void> {
    this.#fresh = false
    if (this.#failure !== undefined) throw this.#failure.error
    const size = sizeOf(rows)
    this.#waitingBytes += size
    this.enqueue(thread_id, rows, false)
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#waitingBytes -= size
      })
    for (const row of rows.checkpoints ?? []) if (row.checkpoint_ns === '') this.#lastRow = row
    for (const row of rows.writes ?? []) if (row.checkpoint_ns === '') this.#writtenTo = row.checkpoint_id
  }
}
