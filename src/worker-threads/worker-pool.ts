import { type ResourceLimits, Worker } from 'node:worker_threads'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { reviveFailure, type TaskMessage, type TaskRequest } from './serve-tasks.ts'

/** Default number of tasks on a thread: one runs, and one waits in the thread, so that the thread always has work. */
const DEPTH = 2
/** Time limit for a thread to load its entry. */
const START_TIMEOUT_MS = 30_000
/** Maximum size of buffers that are copied to a busy thread, so that the task can still move to another thread. */
const MAX_COPY_BYTES = 1024 * 1024

/** A task. Buffers in `transfer` may be transferred to the thread, and must not be used after `run`. */
export interface WorkerTask {
  name: string
  input: unknown
  transfer?: readonly ArrayBuffer[]
}

/** A lane of worker threads running one entry module. */
export interface WorkerPool {
  /**
   * Runs the task on the least busy thread; resolves with the handler's value. @throws AppError of the handler;
   * `internal` for any other error of the handler; `worker_failed` when the thread ended during the task,
   * `worker_timeout` when it took too long, `shutting_down` after close; the signal's reason on abort (a task that a
   * thread has already taken still runs to its end)
   */
  run<R>(task: WorkerTask, signal?: AbortSignal): Promise<R>
  /** Starts all threads now; resolves when all accept tasks. */
  warm(): Promise<void>
  /** Number of tasks that no thread has taken yet. */
  readonly queued: number
  /** Number of tasks that threads have taken and not finished. */
  readonly running: number
  /** Ends the threads at once; unfinished tasks reject with `shutting_down`. */
  close(): Promise<void>
}

/**
 * `taskTimeoutMs` counts from the start of a task; a thread that is idle for `idleMs` ends; `name` identifies the lane
 * in logs and errors.
 */
export interface WorkerPoolOptions {
  entry: URL
  size: number
  name: string
  workerData?: unknown
  /**
   * Number of tasks on a thread, including the running one; default 2. Tasks that wait on a thread cannot move to
   * another one.
   */
  depth?: number
  taskTimeoutMs?: number
  idleMs?: number
  resourceLimits?: ResourceLimits
  logger: Logger
}

interface Job {
  readonly id: number
  readonly task: WorkerTask
  settled: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  /** Stops listening to the caller's signal, which may outlive many tasks. */
  release: () => void
}

/** `jobs[0]` is the task that runs, or that runs first once the thread is ready; the others wait in the thread. */
interface Thread {
  readonly worker: Worker
  readonly jobs: Job[]
  readonly started: PromiseWithResolvers<void>
  ready: boolean
  timer: NodeJS.Timeout | undefined
}

/** A lane whose threads start on first use; a thread that ends unexpectedly is replaced. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  return new ThreadLane(options)
}

class ThreadLane implements WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #threads = new Set<Thread>()
  #queue: Job[] = []
  #nextId = 1
  #closed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  get queued(): number {
    return this.#queue.length
  }

  get running(): number {
    let sum = 0
    for (const thread of this.#threads) sum += thread.jobs.length
    return sum
  }

  run<R>(task: WorkerTask, signal?: AbortSignal): Promise<R> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#closed) return reject(new AppError('shutting_down'))
      if (signal?.aborted === true) return reject(signal.reason)
      const job: Job = { id: this.#nextId++, task, settled: false, resolve, reject, release: () => {} }
      const onAbort = (): void => this.#abandon(job, signal?.reason)
      signal?.addEventListener('abort', onAbort)
      job.release = () => signal?.removeEventListener('abort', onAbort)
      this.#queue.push(job)
      this.#dispatch()
    }) as Promise<R>
  }

  async warm(): Promise<void> {
    while (!this.#closed && this.#threads.size < this.#options.size) this.#spawn()
    await Promise.all([...this.#threads].map((thread) => thread.started.promise))
  }

  async close(): Promise<void> {
    this.#closed = true
    const threads = [...this.#threads]
    const jobs = [...threads.flatMap((thread) => thread.jobs), ...this.#queue]
    this.#threads.clear()
    this.#queue = []
    for (const job of jobs) settle(job, () => job.reject(new AppError('shutting_down')))
    await Promise.all(threads.map((thread) => this.#end(thread, new AppError('shutting_down'))))
  }

  #abandon(job: Job, reason: unknown): void {
    this.#queue = this.#queue.filter((queued) => queued !== job)
    settle(job, () => job.reject(reason))
  }

  #dispatch(): void {
    for (let job = this.#queue[0]; job !== undefined; job = this.#queue[0]) {
      const thread = this.#threadFor(job)
      if (thread === null) return
      this.#queue.shift()
      this.#send(thread, job)
    }
  }

  #threadFor(job: Job): Thread | null {
    const [leastBusy] = [...this.#threads].sort((a, b) => a.jobs.length - b.jobs.length)
    if (leastBusy?.jobs.length === 0) return leastBusy
    if (this.#threads.size < this.#options.size) return this.#spawn()
    if (leastBusy === undefined || leastBusy.jobs.length >= (this.#options.depth ?? DEPTH)) return null
    return transferBytes(job.task) <= MAX_COPY_BYTES ? leastBusy : null
  }

  #send(thread: Thread, job: Job): void {
    const { name, input, transfer = [] } = job.task
    const request: TaskRequest = { id: job.id, name, input }
    try {
      // Buffers of a waiting task are copied, so that it can move to another thread if this one ends unexpectedly.
      thread.worker.postMessage(request, thread.jobs.length === 0 ? [...transfer] : [])
    } catch (cause) {
      return settle(job, () => job.reject(new AppError('internal', { cause })))
    }
    thread.jobs.push(job)
    if (thread.jobs.length === 1) this.#watch(thread)
  }

  #spawn(): Thread {
    const { entry, name, workerData, resourceLimits } = this.#options
    const worker = new Worker(entry, { name, workerData, ...(resourceLimits && { resourceLimits }) })
    const started = Promise.withResolvers<void>()
    started.promise.catch(() => {}) // only warm() waits for this promise
    const thread: Thread = { worker, jobs: [], started, ready: false, timer: undefined }
    let lastError: unknown
    worker.on('message', (message: TaskMessage) => this.#receive(thread, message))
    worker.on('messageerror', (error) => this.#lose(thread, this.#failed(thread, error)))
    worker.on('error', (error) => {
      lastError = error
    })
    worker.on('exit', () => this.#lose(thread, this.#failed(thread, lastError)))
    this.#threads.add(thread)
    this.#watch(thread)
    return thread
  }

  #receive(thread: Thread, message: TaskMessage): void {
    if (!this.#threads.has(thread)) return
    if (message.kind === 'ready') {
      thread.ready = true
      thread.started.resolve()
    } else {
      const job = thread.jobs.shift()
      if (job?.id !== message.id) {
        if (job !== undefined) thread.jobs.unshift(job)
        return this.#lose(thread, this.#failed(thread, new Error('The thread answered out of order')))
      }
      settle(job, () =>
        message.kind === 'done' ? job.resolve(message.value) : job.reject(reviveFailure(message.failure)),
      )
    }
    this.#watch(thread)
    this.#dispatch()
  }

  /** Sets the deadline of the thread's current work: starting, its first job, or none. */
  #watch(thread: Thread): void {
    clearTimeout(thread.timer)
    thread.timer = undefined
    if (thread.ready && thread.jobs.length === 0) return this.#watchIdle(thread)
    const timeout = thread.ready ? this.#options.taskTimeoutMs : START_TIMEOUT_MS
    if (timeout === undefined) return
    thread.timer = setTimeout(() => {
      const details = { lane: this.#options.name, task: thread.jobs[0]?.task.name, timeout_ms: timeout }
      this.#lose(thread, new AppError('worker_timeout', { details }))
    }, timeout)
  }

  /** Ends an idle thread, which frees its memory; the next task starts another thread. */
  #watchIdle(thread: Thread): void {
    const { idleMs } = this.#options
    if (idleMs === undefined) return
    thread.timer = setTimeout(() => {
      this.#threads.delete(thread)
      void thread.worker.terminate()
    }, idleMs)
    thread.timer.unref()
  }

  #failed(thread: Thread, cause: unknown): AppError {
    const details = { lane: this.#options.name, task: thread.jobs[0]?.task.name }
    return new AppError('worker_failed', { details, cause })
  }

  /**
   * Removes a thread that has ended or is broken: its running task fails, the tasks behind it move to other threads.
   */
  #lose(thread: Thread, error: AppError): void {
    if (!this.#threads.delete(thread)) return
    this.#options.logger.error({ err: error, started: thread.ready }, 'worker thread lost')
    void this.#end(thread, error)
    const [running, ...waiting] = thread.jobs
    if (running !== undefined) settle(running, () => running.reject(error))
    this.#queue.unshift(...waiting.filter((job) => !job.settled))
    if (!thread.ready && this.#threads.size === 0) return this.#giveUp(error)
    // A thread that never started is not restarted at once, since its entry may be broken.
    if (thread.ready && running !== undefined) this.#spawn()
    this.#dispatch()
  }

  #giveUp(error: AppError): void {
    const jobs = this.#queue
    this.#queue = []
    for (const job of jobs) settle(job, () => job.reject(error))
  }

  async #end(thread: Thread, error: AppError): Promise<void> {
    clearTimeout(thread.timer)
    thread.started.reject(error)
    await thread.worker.terminate()
  }
}

function settle(job: Job, how: () => void): void {
  if (job.settled) return
  job.settled = true
  job.release()
  how()
}

function transferBytes(task: WorkerTask): number {
  return (task.transfer ?? []).reduce((sum, buffer) => sum + buffer.byteLength, 0)
}
