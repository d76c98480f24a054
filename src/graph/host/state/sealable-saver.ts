import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type ChannelVersions,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { RunCheckpointer } from '../storage.ts'

/**
 * Passes calls on to another saver until it is sealed; then it stores nothing. A cancelled run may continue in the
 * background, since a node can ignore the cancel, and its later writes must not become state.
 */
export class SealableSaver extends BaseCheckpointSaver {
  readonly #inner: RunCheckpointer
  readonly #writing = new Set<Promise<unknown>>()
  readonly #afterStep: () => Promise<void>
  #sealed = false

  /** The write of a checkpoint resolves only after `afterStep` has resolved too; see `createStepPace`. */
  constructor(inner: RunCheckpointer, afterStep: () => Promise<void> = async () => undefined) {
    super(inner.serde)
    this.#inner = inner
    this.#afterStep = afterStep
  }

  /** Stops storing. */
  seal(): void {
    this.#sealed = true
  }

  /**
   * Waits until no write is in progress, seals the saver, and waits until all writes are stored. The checkpoint of a
   * step waits for the previous one, and a cancel must not lose the last finished step.
   */
  async settled(): Promise<void> {
    do {
      await Promise.allSettled(this.#writing)
      await new Promise(setImmediate)
    } while (this.#writing.size > 0)
    // Sealed before the wait: a write during the wait would be stored after the state of the run was read.
    this.seal()
    await this.#inner.stored().catch(() => undefined)
  }

  /** Resolves when all writes are durable. @throws the error of a refused write */
  stored(): Promise<void> {
    return this.#inner.stored()
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#inner.getTuple(config)
  }

  override list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#inner.list(config, options)
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const stored = this.#sealed
      ? config
      : await this.#track(this.#inner.put(config, checkpoint, metadata, newVersions))
    await this.#afterStep()
    return stored
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    if (!this.#sealed) await this.#track(this.#inner.putWrites(config, writes, taskId))
  }

  override async deleteThread(threadId: string): Promise<void> {
    if (!this.#sealed) await this.#inner.deleteThread(threadId)
  }

  override getDeltaChannelHistory(
    options: Parameters<BaseCheckpointSaver['getDeltaChannelHistory']>[0],
  ): ReturnType<BaseCheckpointSaver['getDeltaChannelHistory']> {
    return this.#inner.getDeltaChannelHistory(options)
  }

  override getNextVersion(current: number | undefined): number {
    return this.#inner.getNextVersion(current)
  }

  async #track<T>(write: Promise<T>): Promise<T> {
    this.#writing.add(write)
    try {
      return await write
    } finally {
      this.#writing.delete(write)
    }
  }
}
