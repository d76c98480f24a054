import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  EXCLUDED_METADATA_KEYS,
  type PendingWrite,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint'
import type { Tenant } from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import { configOf, checkpointIdOf, checkpointNamespace } from './config.ts'
import type { CheckpointRows } from './queue.ts'
import { type CheckpointSource, readCheckpointHistory, readNewest } from './reader.ts'
import type { CheckpointRowStore } from './row-store.ts'
import type { BlobRow, CheckpointNamespace, WriteRow } from './rows.ts'
import { encodeValue, type StoredValue } from './serde.ts'

/** For each channel of a checkpoint: the checkpoint that wrote its value (`refs`), and its version. */
interface Lineage {
  refs: Record<string, string>
  versions: ChannelVersions
}

/** State that the checkpointers of a process share. */
export interface Shared {
  rows: CheckpointRowStore
  /** Lineages of checkpoints that will probably be parents soon. */
  lineages: Map<string, Lineage>
  /** Microseconds, strictly increasing. */
  nextTime(): number
}

const WITHOUT_BOUNDS = { before: undefined, limit: undefined }

function lineageKey(tenant: Tenant, place: CheckpointNamespace, checkpoint_id: string): string {
  return `${tenant.deployment_id} ${tenant.workspace_id} ${place.thread_id} ${place.checkpoint_ns} ${checkpoint_id}`
}

/** A checkpointer of one tenant; see `Checkpointers`. */
export class SqlCheckpointer extends BaseCheckpointSaver {
  readonly #shared: Shared
  readonly #tenant: Tenant
  readonly #lease: Lease | null
  protected readonly source: CheckpointSource

  constructor(shared: Shared, tenant: Tenant, lease: Lease | null) {
    super()
    this.#shared = shared
    this.#tenant = tenant
    this.#lease = lease
    this.source = { rows: shared.rows, serde: this.serde, tenant }
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.['thread_id'] === undefined) return undefined
    const place = checkpointNamespace(config)
    const read = await readNewest(this.source, {
      ...place,
      ...WITHOUT_BOUNDS,
      checkpoint_id: checkpointIdOf(config),
    })
    if (read === undefined) return undefined
    const { refs, tuple } = read
    this.#remember(place, tuple.checkpoint.id, { refs, versions: { ...tuple.checkpoint.channel_versions } })
    return tuple
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { limit, before, filter = {} } = options
    const { thread_id, checkpoint_ns } = config.configurable ?? {}
    if (limit !== undefined && limit <= 0) return
    const scan = {
      thread_id,
      checkpoint_ns,
      checkpoint_id: checkpointIdOf(config),
      before: checkpointIdOf(before),
      limit,
    }
    yield* readCheckpointHistory(this.source, scan, filter)
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = checkpointNamespace(config)
    const parent_id = checkpointIdOf(config) ?? null
    const { id: checkpoint_id, channel_values: values, channel_versions: versions } = checkpoint
    // Serialized before the first await, because the graph continues and may change the values.
    const head = JSON.stringify({
      v: checkpoint.v,
      ts: checkpoint.ts,
      channel_versions: versions,
      versions_seen: checkpoint.versions_seen,
    })
    const changed = Object.keys(values).filter((channel) => channel in newVersions)
    const [stamped, blobs] = await Promise.all([
      encodeValue(this.serde, this.#stamped(config, metadata)),
      Promise.all(changed.map((channel) => this.#blob(place, checkpoint, channel))),
    ])
    const refs: Record<string, string> = {}
    for (const channel of changed) refs[channel] = checkpoint_id
    const kept = Object.keys(values).filter((channel) => !(channel in newVersions))
    if (kept.length > 0) blobs.push(...(await this.#inherit(place, checkpoint, parent_id, kept, refs)))
    const row = {
      ...place,
      checkpoint_id,
      parent_id,
      checkpoint: head,
      refs: JSON.stringify(refs),
      metadata: stamped.value,
    }
    this.#remember(place, checkpoint_id, { refs, versions: { ...versions } })
    // A parent usually has one child, so its lineage is dropped. For a second child (a fork) the parent is read again.
    if (parent_id !== null) this.#shared.lineages.delete(lineageKey(this.#tenant, place, parent_id))
    await this.write(place.thread_id, { checkpoints: [row], blobs })
    return configOf(place, checkpoint_id)
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = checkpointNamespace(config)
    const checkpoint_id = checkpointIdOf(config)
    if (checkpoint_id === undefined) throw new TypeError('writes need `checkpoint_id` in configurable')
    const written_at = this.#shared.nextTime()
    const rows = await Promise.all(
      writes.map(async ([channel, value], i): Promise<WriteRow> => {
        const stored = await this.#encoded(channel, value)
        const idx = (Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : undefined) ?? i
        return { ...place, checkpoint_id, task_id: taskId, idx, written_at, channel, ...stored }
      }),
    )
    if (rows.length > 0) await this.write(place.thread_id, { writes: rows })
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#shared.rows.deleteThread(this.#tenant, threadId)
  }

  /**
   * The metadata to store: the metadata of the config without LangGraph's internal fields, the run's id, and the
   * checkpoint's metadata.
   */
  #stamped(config: RunnableConfig, metadata: CheckpointMetadata): Record<string, unknown> {
    const of = Object.entries(config.metadata ?? {})
    const own = of.filter(([key]) => !key.startsWith('__') && !EXCLUDED_METADATA_KEYS.has(key))
    const run = this.#lease === null ? {} : { run_id: this.#lease.run_id }
    return { ...Object.fromEntries(own), ...run, ...metadata }
  }

  /**
   * Resolves when all writes are durable. Resolves at once in this class, whose writes resolve only when they are
   * durable.
   */
  async stored(): Promise<void> {
    // Nothing is pending: each write was durable when it resolved.
  }

  /** A promise while too many bytes wait to be stored; undefined in this class, in which no bytes wait. */
  caughtUp(): Promise<void> | undefined {
    return undefined
  }

  protected write(thread_id: string, rows: Partial<CheckpointRows>): Promise<void> {
    return this.enqueue(thread_id, rows, true)
  }

  protected enqueue(thread_id: string, rows: Partial<CheckpointRows>, urgent: boolean): Promise<void> {
    return this.#shared.rows.queue.add({ tenant: this.#tenant, thread_id, lease: this.#lease }, rows, urgent)
  }

  /** @throws TypeError with the name of the channel for a value that has no stored form, such as a bigint */
  async #encoded(channel: string, value: unknown): Promise<StoredValue> {
    try {
      return await encodeValue(this.serde, value)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new TypeError(`The value of "${channel}" cannot be stored: ${reason}`, { cause })
    }
  }

  async #blob(place: CheckpointNamespace, checkpoint: Checkpoint, channel: string): Promise<BlobRow> {
    const stored = await this.#encoded(channel, checkpoint.channel_values[channel])
    const version = String(checkpoint.channel_versions[channel] ?? '')
    return { ...place, checkpoint_id: checkpoint.id, channel, version, ...stored }
  }

  /**
   * Fills `refs` for channels that this checkpoint has not changed. Usually the parent has the value. If only another
   * checkpoint of the thread has it, the value is stored once more and its row returned; this happens for a copy of a
   * state, which is a sibling of its source. A channel whose version was never stored gets no entry.
   */
  async #inherit(
    place: CheckpointNamespace,
    checkpoint: Checkpoint,
    parent_id: string | null,
    channels: readonly string[],
    refs: Record<string, string>,
  ): Promise<BlobRow[]> {
    const lineage = parent_id === null ? undefined : await this.#lineage(place, parent_id)
    const missing: { channel: string; version: string }[] = []
    for (const channel of channels) {
      const version = checkpoint.channel_versions[channel]
      // A channel without a version was never written, so there is no stored value.
      if (version === undefined) continue
      const ref = lineage?.versions[channel] === version ? lineage?.refs[channel] : undefined
      if (ref === undefined) missing.push({ channel, version: String(version) })
      else refs[channel] = ref
    }
    if (missing.length === 0) return []
    const known = await this.#shared.rows.knownChannels(this.#tenant, place, missing)
    for (const channel of known) refs[channel] = checkpoint.id
    return await Promise.all([...known].map((channel) => this.#blob(place, checkpoint, channel)))
  }

  async #lineage(place: CheckpointNamespace, checkpoint_id: string): Promise<Lineage | undefined> {
    const known = this.#shared.lineages.get(lineageKey(this.#tenant, place, checkpoint_id))
    if (known !== undefined) return known
    const scan = { ...place, ...WITHOUT_BOUNDS, checkpoint_id }
    const [row] = await this.#shared.rows.list(this.#tenant, scan)
    if (row === undefined) return undefined
    const { channel_versions: versions } = JSON.parse(row.checkpoint) as Checkpoint
    return { refs: JSON.parse(row.refs) as Record<string, string>, versions }
  }

  #remember(place: CheckpointNamespace, checkpoint_id: string, lineage: Lineage): void {
    this.#shared.lineages.set(lineageKey(this.#tenant, place, checkpoint_id), lineage)
  }
}
