import { AppError, toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Histogram, Metrics } from '../../base/metrics.ts'
import { aborted, pause } from '../../base/pause.ts'
import type { IngestLog, LogFrame, LogPosition } from '../log/ingest-log.ts'
import type { BatchInStore, StoreBatch } from './store-batch.ts'

/** Maximum payload bytes of one batch from the log. */
const BATCH_BYTES = 16 << 20
/** Shortest and longest time between the starts of two batches. */
const INTERVAL_MS = { least: 100, most: 400 } as const
/** Time limit of `reached`, below the 10 s after which the Python client sends a request again. */
const REACHED_MS = 8_000
/** Time without a confirmed batch after which waiting data counts as stuck. */
const STUCK_MS = 60_000
const RETRY_MS = [100, 200, 500, 1000, 2000] as const

export interface StoreProgress {
  /** Whether the store accepts rows. */
  up: boolean
  last_error: string | null
  /** Epoch milliseconds. */
  last_confirmed_at: number | null
  /** Fragments and feedback records confirmed since the start. */
  stored: number
  /** Lean rows written since the start. */
  derived: number
}

/**
 * Moves the content of the ingest log to the store, in order and with derived rows. While the rows of one batch are
 * written, the next is derived. Retries until the store is available.
 */
export interface StoreWriter {
  progress(): StoreProgress
  /**
   * Checks that data is being stored.
   * @throws AppError store_unavailable when data has waited for a minute in which nothing was stored;
   * store_misconfigured as soon as the store refuses a batch with this code
   */
  check(): void
  /**
   * Resolves when everything before `position` is stored and derived. @throws AppError store_unavailable if that takes
   * longer than clients wait; the data is still in the log
   */
  reached(position: LogPosition): Promise<void>
  /** Resolves when the log is empty, or after `deadlineMs`; then stops. */
  stop(deadlineMs: number): Promise<void>
}

export interface StoreWriterDeps {
  log: IngestLog
  storeBatch: StoreBatch
  /** Resolves when the store accepts rows. */
  ready: Promise<void>
  logger: Logger
  metrics: Metrics
}

/** Starts the writer; `stop` ends it. */
export function startStoreWriter(deps: StoreWriterDeps): StoreWriter {
  const writer = new LogStoreWriter(deps)
  writer.start()
  return writer
}

class LogStoreWriter implements StoreWriter {
  readonly #deps: StoreWriterDeps
  readonly #stopping = new AbortController()
  readonly #batchSeconds: Histogram
  readonly #progress: StoreProgress = {
    up: false,
    last_error: null,
    last_confirmed_at: null,
    stored: 0,
    derived: 0,
  }
  /** Why the last batch failed; undefined after a confirmed one. */
  #failure: AppError | undefined
  /** Steady milliseconds of the last confirmed batch, or of the start. */
  #storedAt = performance.now()
  /** Everything before this position is stored and derived. */
  #position: LogPosition
  #waiters: { position: LogPosition; resolve: () => void }[] = []
  #running: Promise<void> = Promise.resolve()

  constructor(deps: StoreWriterDeps) {
    this.#deps = deps
    this.#position = deps.log.committed
    this.#batchSeconds = deps.metrics.histogram(
      'weir_ingest_batch_seconds',
      'Time from reading a batch off the log to its confirmation.',
    )
  }

  start(): void {
    this.#running = this.#run()
  }

  progress(): StoreProgress {
    return { ...this.#progress }
  }

  check(): void {
    if (this.#failure?.code === 'store_misconfigured') throw this.#failure
    const { oldest_waiting_at: oldest } = this.#deps.log.stats()
    if (oldest === null) return
    const ms = Math.min(Date.now() - oldest, performance.now() - this.#storedAt)
    if (ms < STUCK_MS) return
    const reason = this.#failure?.message ?? 'The batch is still being stored.'
    const message = `Acknowledged data waits, and none has been stored for ${Math.floor(ms / 1000)} s: ${reason}`
    throw new AppError('store_unavailable', { message })
  }

  reached(wanted: LogPosition): Promise<void> {
    if (isBefore(wanted, this.#position)) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        reject(new AppError('store_unavailable'))
      }, REACHED_MS)
      const done = (): void => {
        clearTimeout(late)
        resolve()
      }
      const waiter = { position: wanted, resolve: done }
      this.#waiters.push(waiter)
    })
  }

  async stop(deadlineMs: number): Promise<void> {
    const { log, logger } = this.#deps
    const deadline = AbortSignal.timeout(deadlineMs)
    while (log.stats().frames_waiting > 0 && !deadline.aborted) await pause(20, deadline)
    this.#stopping.abort()
    await this.#running
    const { items_waiting: waiting } = log.stats()
    if (waiting > 0)
      logger.warn(
        { waiting },
        'stop: the ingest log has data that ClickHouse does not have; the next start with this DATA_DIR stores it',
      )
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { log, storeBatch, ready } = this.#deps
    const isReady = ready.then(() => {
      this.#progress.up = true
    })
    await Promise.race([isReady, aborted(signal)])
    /** Where the next batch begins. */
    let next = this.#position
    /** Resolves when the rows of the batch before are confirmed. */
    let earlier = Promise.resolve()
    while (!signal.aborted) {
      const from = next
      const frames = await this.#untilDone(() => log.read(from, BATCH_BYTES))
      if (frames === undefined) break
      if (frames.length === 0) {
        await log.waitForData(from, signal)
        continue
      }
      const started = performance.now()
      const batch = storeBatch(frames, earlier)
      await this.#untilDone(() => batch.derive(signal))
      await earlier
      next = frames.at(-1)!.end
      earlier = this.#finish(batch, frames, started)
      // The next batch is read at once if this one is so full that more data probably waits.
      if (isFull(frames)) continue
      await earlier
      await pause(rest(performance.now() - started), signal)
    }
    await earlier
  }

  async #finish(batch: BatchInStore, frames: readonly LogFrame[], started: number): Promise<void> {
    const { signal } = this.#stopping
    const end = frames.at(-1)!.end
    const derived = await this.#untilDone(() => batch.finish(signal))
    await this.#untilDone(() => this.#deps.log.commit(end))
    if (derived === undefined || signal.aborted) return
    this.#batchSeconds.observe((performance.now() - started) / 1000)
    this.#confirmed(frames, derived, end)
  }

  /**
   * Repeats a step until it succeeds, because acknowledged data must not be lost. Returns undefined if the writer stops
   * before.
   */
  async #untilDone<T>(step: () => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return await step()
      } catch (thrown) {
        if (signal.aborted) break
        this.#failed(thrown, failures)
        await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]!, signal)
      }
    }
    return undefined
  }

  #failed(thrown: unknown, failures: number): void {
    this.#failure = toAppError(thrown)
    const { code, message } = this.#failure
    Object.assign(this.#progress, { up: false, last_error: message })
    if (failures % 10 === 0)
      this.#deps.logger.warn(
        { err: thrown, code, failures },
        'store: a batch was not confirmed; trying again',
      )
  }

  #confirmed(frames: readonly LogFrame[], derived: number, end: LogPosition): void {
    const { stored } = this.#progress
    Object.assign(this.#progress, {
      up: true,
      last_error: null,
      last_confirmed_at: Date.now(),
      stored: frames.reduce((sum, frame) => sum + frame.count, stored),
      derived: this.#progress.derived + derived,
    })
    this.#failure = undefined
    this.#storedAt = performance.now()
    this.#position = end
    const due = this.#waiters.filter((waiter) => isBefore(waiter.position, end))
    this.#waiters = this.#waiters.filter((waiter) => !due.includes(waiter))
    for (const waiter of due) waiter.resolve()
  }
}

/** Whether a batch has so many bytes that more data is probably available at once. */
function isFull(frames: readonly LogFrame[]): boolean {
  return frames.reduce((sum, frame) => sum + frame.payload.length, 0) > BATCH_BYTES / 2
}

/**
 * Time for which records are collected after a batch that took `ms`. The cost of a batch is mostly fixed (parts of some
 * forty columns, fsyncs, merges), so a busy store gets fewer and larger batches, and an idle store gets batches soon.
 */
function rest(ms: number): number {
  return Math.min(Math.max(INTERVAL_MS.least - ms, ms), Math.max(0, INTERVAL_MS.most - ms))
}

function isBefore(a: LogPosition, b: LogPosition): boolean {
  return a.segment < b.segment || (a.segment === b.segment && a.offset <= b.offset)
}
