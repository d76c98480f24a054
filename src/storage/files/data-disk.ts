import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { within } from '../../base/background/within.ts'
import { diskErrorCode } from '../../base/files/disk-errors.ts'
import { AppError, ERRORS } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { DataDisk, DiskState } from '../../ingest/store/data-disk.ts'

export interface DataDiskOptions {
  /** The folder DATA_DIR. Its disk is monitored. */
  dir: string
  minFreeBytes: number
  logger: Logger
  metrics: Metrics
  /** Writes a file with fsync and removes it. Tests replace it to simulate faults. */
  tryWrite?: (file: string) => Promise<void>
  /** Maximum age of the state that `look` and `check` return. */
  freshMs?: number
  /** Time that `look` waits for the disk before it returns the previous state. */
  answerMs?: number
  /** Time after which a pending write makes the disk count as not writable. */
  hangMs?: number
}

const EVERY_MS = 10_000
const FRESH_MS = 1_000
const ANSWER_MS = 2_000
/** Default of `hangMs`. It is long, because a write to a busy disk may take seconds. */
const HANG_MS = 30_000
const PROBE = Buffer.alloc(64 * 1024)
const PROBE_FILE = '.disk-check'

async function writeProbe(file: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.writeFile(PROBE)
    await handle.datasync()
  } finally {
    await handle.close()
    await rm(file, { force: true })
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}

function sizeText(bytes: number): string {
  return bytes < 1 << 20 ? `${Math.floor(bytes / 1024)} KiB` : `${Math.floor(bytes / (1 << 20))} MiB`
}

/** Monitors the disk of DATA_DIR: free space, and whether a small file can be written. Resolves after the first check. */
export async function watchDataDisk(options: DataDiskOptions): Promise<DataDisk> {
  const disk = new WatchedDisk(options)
  await disk.start()
  return disk
}

class WatchedDisk implements DataDisk {
  readonly #options: Required<DataDiskOptions>
  #state: DiskState
  #lookedAt = -Infinity
  #looking: Promise<DiskState> | undefined
  /** The check in progress. While the disk hangs, no second write is started. */
  #measuring: Promise<DiskState> | undefined
  #measuringSince = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: DataDiskOptions) {
    const limits = { freshMs: FRESH_MS, answerMs: ANSWER_MS, hangMs: HANG_MS }
    this.#options = { tryWrite: writeProbe, ...limits, ...options }
    this.#state = { free_bytes: 0, size_bytes: 0, min_free_bytes: options.minFreeBytes, problem: null }
    const { metrics } = options
    const [free, size] = ['weir_disk_free_bytes', 'weir_disk_size_bytes']
    metrics.observedGauge(free, 'Free space on the disk of DATA_DIR.', () => this.#state.free_bytes)
    metrics.observedGauge(size, 'Size of the disk of DATA_DIR.', () => this.#state.size_bytes)
  }

  async start(): Promise<void> {
    await this.look()
    this.#timer = setInterval(() => void this.look(), EVERY_MS)
    this.#timer.unref()
  }

  state(): DiskState {
    return this.#state
  }

  look(): Promise<DiskState> {
    if (performance.now() - this.#lookedAt < this.#options.freshMs) return Promise.resolve(this.#state)
    return (this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined)))
  }

  async check(): Promise<void> {
    const { problem } = await this.look()
    if (problem !== null) throw new AppError(problem.code, { message: problem.detail })
  }

  async assertRoom(): Promise<void> {
    if (this.#state.problem !== null) await this.check()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #lookNow(): Promise<DiskState> {
    const next = await within(this.#measureOnce(), this.#options.answerMs, () => this.#stateWhileBusy())
    this.#lookedAt = performance.now()
    this.#see(next)
    return next
  }

  #measureOnce(): Promise<DiskState> {
    if (this.#measuring !== undefined) return this.#measuring
    this.#measuringSince = performance.now()
    return (this.#measuring = this.#measure()
      .catch((error: unknown) => this.#unwritable(`DATA_DIR cannot be read (${reasonOf(error)}).`))
      .finally(() => (this.#measuring = undefined)))
  }

  /** The state while a write is pending: the previous state, or `not writable` if the write takes too long. */
  #stateWhileBusy(): DiskState {
    const { hangMs } = this.#options
    if (performance.now() - this.#measuringSince < hangMs) return this.#state
    return this.#unwritable(`The disk of DATA_DIR did not complete a write within ${hangMs / 1000} s.`)
  }

  async #measure(): Promise<DiskState> {
    const { bavail, blocks, bsize } = await statfs(this.#options.dir)
    const free_bytes = bavail * bsize
    const problem = await this.#problemOf(free_bytes)
    return { ...this.#state, free_bytes, size_bytes: blocks * bsize, problem }
  }

  async #problemOf(free: number): Promise<DiskState['problem']> {
    const { dir, tryWrite, minFreeBytes } = this.#options
    try {
      await tryWrite(join(dir, PROBE_FILE))
    } catch (cause) {
      const code = diskErrorCode(cause) ?? 'disk_unwritable'
      return { code, detail: `${ERRORS[code].message} (${reasonOf(cause)}, ${sizeText(free)} free)` }
    }
    if (free >= minFreeBytes) return null
    const left = `Only ${sizeText(free)} are free on the disk of DATA_DIR`
    return {
      code: 'disk_full',
      detail: `${left}, less than DISK_MIN_FREE_BYTES (${sizeText(minFreeBytes)}).`,
    }
  }

  #see(next: DiskState): void {
    const { logger, dir } = this.#options
    const { problem, free_bytes } = next
    const before = this.#state.problem
    this.#state = next
    if (problem !== null && problem.code !== before?.code) {
      logger.error({ code: problem.code, free_bytes, data_dir: dir }, problem.detail)
    } else if (problem === null && before !== null) {
      logger.info({ free_bytes, data_dir: dir }, 'the disk of DATA_DIR is writable again')
    }
  }

  #unwritable(detail: string): DiskState {
    return { ...this.#state, problem: { code: 'disk_unwritable', detail } }
  }
}
