import { fileURLToPath } from 'node:url'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type {
  GraphAnswer,
  GraphEnd,
  GraphEvents,
  GraphHost,
  GraphJob,
  GraphState,
} from '../runs/graph-host.ts'
import type { Tenant } from '../runs/model.ts'
import type { JsonObject } from '../schema/json.ts'
import type { DeploymentFile } from './deployment-file.ts'
import { type HostDeath, type HostJob, HostLink } from './host-link.ts'
import { type HostLaunch, hostEnvironment } from './host-process.ts'

/** How a deployment's graphs are hosted. */
export interface GraphHostOptions {
  file: DeploymentFile
  /** Handed to the host's composition root as it is: how it opens run state. */
  storage: JsonObject
  /** Where own traces are filed: the deployment's name. */
  project: string
  /** The server's environment, of which hosts get the least that a process needs. */
  environment: Readonly<Record<string, string | undefined>>
  /** Silence after which a host is killed (HOST_STALL_SECONDS). */
  stallMs: number
  /** Silence after a cancel after which a host is killed (CANCEL_GRACE_SECONDS). */
  cancelGraceMs: number
  logger: Logger
  record: HostLaunch['record']
  /** Hears which modules outside of packages a host has loaded, or looked for: absolute paths. */
  loaded?: (files: readonly string[]) => void
  /** Default: the composition root beside this room. */
  entry?: string
  /** Default: the Node that runs this. */
  nodePath?: string
  /** Hosts at most, blocked ones included. Default 8. */
  maxHosts?: number
  /** How long hosts beyond the first stay without work. Default 60 s. */
  spareIdleMs?: number
}

/** The hosts of one deployment. */
export interface GraphHosts extends GraphHost {
  /** Serves the graphs as they are now on disk: new hosts take the next runs, old ones end with their last. */
  reload(file: DeploymentFile): void
  /** Vectors by the deployment's own `store.index.embed`. @throws AppError invalid_request without one */
  embed(texts: readonly string[]): Promise<number[][]>
  /** Processes that live now. */
  pids(): number[]
}

/** D-42: a host silent so long gets no new runs. */
const SILENT_MS = 1_000
const WATCH_MS = 250
/** In use for so long, a second host is kept at hand: one that is blocked must not make others wait for a start. */
const SPARE_AFTER_MS = 1_000
/** One that works and the spare. */
const HOSTS_IN_USE = 2
const SPARE_IDLE_MS = 60_000
const MAX_HOSTS = 8
/** Runs at a time from which on a host shares them with the next: the spare stays free for when it is needed. */
const LOADED = 4
/** A host beyond those that are wanted stays so long without work. */
const SURPLUS_IDLE_MS = 5_000
/** A host that never opened is not followed by another sooner. */
const START_PAUSE_MS = 1_000
/** Embedding is nobody's in particular. */
const NO_TENANT = { workspace_id: '', deployment_id: '' }
const STOPPED: GraphEnd = { kind: 'lost', culprit: false, message: 'The server stops.', state: undefined }

/**
 * Starts a host for the deployment and executes its runs (D-42): one host kept warm, a second while the deployment is
 * in use, more when hosts are blocked. A run is offered and granted, so that it is never executed in two hosts.
 */
export function createGraphHosts(options: GraphHostOptions): GraphHosts {
  return new HostPool(options)
}

class HostPool implements GraphHosts {
  readonly #options: GraphHostOptions
  readonly #homes = new Map<number, HostLink>()
  readonly #waiting: HostJob[] = []
  /** Runs whose host died without it being known of which run. */
  readonly #suspects = new Set<string>()
  readonly #readyWaiters = new Set<{ resolve(): void; reject(error: AppError): void }>()
  #file: DeploymentFile
  #hosts: HostLink[] = []
  #stopped = false
  #nextId = 1
  #use: { since: number; last: number } | undefined
  #startFailed: { error: AppError; at: number } | undefined
  #watch: NodeJS.Timeout | undefined
  #lastWatch = 0

  constructor(options: GraphHostOptions) {
    this.#options = options
    this.#file = options.file
    this.#start()
  }

  graphs() {
    return this.#file.graphs.map(({ graph_id, description }) => ({ graph_id, description }))
  }

  pids(): number[] {
    return this.#hosts.map((host) => host.pid)
  }

  async ready(): Promise<void> {
    await this.#freeHost()
  }

  run(job: GraphJob, events: GraphEvents, signal: AbortSignal): Promise<GraphEnd> {
    return new Promise((resolve) => {
      const id = this.#nextId++
      let over = false
      const entry: HostJob = {
        id,
        job,
        events,
        solo: this.#suspects.delete(job.run.run_id),
        settle: (end) => {
          if (over) return
          over = true
          this.#homes.delete(id)
          signal.removeEventListener('abort', onAbort)
          resolve(end.kind === 'lost' && signal.aborted ? { kind: 'cancelled', state: end.state } : end)
        },
      }
      const onAbort = () => this.#cancel(entry)
      if (this.#stopped) return entry.settle(STOPPED)
      if (signal.aborted) return entry.settle({ kind: 'cancelled', state: undefined })
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(entry)
      this.#noteUse()
      this.#dispatch()
    })
  }

  async call(tenant: Tenant, call: Parameters<GraphHost['call']>[1]): Promise<GraphAnswer> {
    const host = await this.#freeHost()
    return host.call(tenant, call)
  }

  async embed(texts: readonly string[]): Promise<number[][]> {
    const host = await this.#freeHost()
    const { body } = await host.call(NO_TENANT, { name: 'embed', texts: [...texts] })
    return JSON.parse(body) as number[][]
  }

  reload(file: DeploymentFile): void {
    this.#file = file
    this.#startFailed = undefined
    for (const host of this.#hosts) host.supersede()
    this.#start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#watch)
    for (const job of this.#waiting.splice(0)) job.settle(STOPPED)
    for (const waiter of this.#readyWaiters) waiter.reject(new AppError('host_unavailable'))
    this.#readyWaiters.clear()
    await Promise.all(this.#hosts.map((host) => host.stop()))
  }

  /** Starts a host unless one is starting already, or there are enough. */
  #start(): void {
    const limit = this.#options.maxHosts ?? MAX_HOSTS
    const hosts = this.#hosts.filter((host) => !host.superseded)
    if (this.#stopped || hosts.length >= limit || hosts.some((host) => host.state === 'starting')) return
    const link = new HostLink(launchOf(this.#options, this.#file), {
      free: (host) => {
        if (host.state === 'open') this.#announceReady()
        this.#dispatch()
      },
      passed: (host, job) => {
        this.#homes.delete(job.id)
        this.#waiting.unshift(job)
        this.#options.logger.debug(
          { graph_host: host.pid },
          'a graph host does not take a run: it is held up',
        )
        this.#dispatch()
      },
      gone: (host, death) => this.#bury(host, death),
      loaded: (files) => this.#options.loaded?.(files),
    })
    this.#hosts.push(link)
    this.#keepWatch()
  }

  #announceReady(): void {
    this.#startFailed = undefined
    for (const waiter of this.#readyWaiters) waiter.resolve()
    this.#readyWaiters.clear()
  }

  #bury(link: HostLink, death: HostDeath): void {
    this.#hosts = this.#hosts.filter((host) => host !== link)
    if (death.unopened && !this.#stopped) this.#failStart(death.message)
    for (const job of death.offered) {
      this.#homes.delete(job.id)
      this.#waiting.unshift(job)
    }
    for (const job of death.begun) void this.#lose(job, death)
    if (death.begun.length > 0) {
      this.#options.logger.warn({ graph_host: link.pid, runs: death.begun.length }, death.message)
    }
    if (!death.unopened && this.#able().length < this.#wanted()) this.#start()
    this.#dispatch()
  }

  #failStart(message: string): void {
    this.#startFailed = { error: new AppError('host_unavailable', { message }), at: performance.now() }
    this.#options.logger.error({ reason: message }, 'the graphs of the deployment cannot be loaded')
    if (this.#hosts.some((host) => host.state === 'open')) return
    for (const waiter of this.#readyWaiters) waiter.reject(this.#startFailed.error)
    this.#readyWaiters.clear()
    for (const job of this.#waiting.splice(0)) {
      job.settle({ kind: 'failed', error: 'GraphLoadError', message, retryable: false, state: undefined })
    }
  }

  /** Whose fault a death is not known to be, that run is executed alone next time. */
  async #lose(job: HostJob, { culprit, message }: HostDeath): Promise<void> {
    this.#homes.delete(job.id)
    const isCulprit = culprit === job.id
    if (culprit === undefined) this.#suspects.add(job.job.run.run_id)
    const state = isCulprit ? await this.#endState(job) : undefined
    job.settle({ kind: 'lost', culprit: isCulprit, message, state })
  }

  /** What a run has left behind that can no longer say so itself. */
  async #endState({ job }: HostJob): Promise<GraphState | undefined> {
    const { graph_id, thread_id, kwargs } = job.run
    const about = { config: { configurable: { thread_id, checkpoint_ns: '' } }, made_with: kwargs.config }
    try {
      const host = await this.#freeHost()
      return (await host.call(job.tenant, { name: 'end_state', graph_id, ...about })).state
    } catch {
      return undefined
    }
  }

  #dispatch(): void {
    for (let job = this.#waiting[0]; job !== undefined; job = this.#waiting[0]) {
      const host = this.#pick(job.solo)
      if (host === undefined) return this.#makeRoom(job)
      this.#waiting.shift()
      this.#homes.set(job.id, host)
      host.offer(job)
    }
  }

  /** Hosts that can be trusted to begin at once. */
  #able(): HostLink[] {
    return this.#hosts.filter((host) => host.state === 'open' && !host.suspect)
  }

  /** The oldest able host that is not loaded, else the least loaded; an idle one for a job that must be alone. */
  #pick(alone: boolean): HostLink | undefined {
    const fitting = this.#able().filter((host) => !host.taken && (!alone || host.load === 0))
    const calm = fitting.find((host) => host.load < LOADED)
    if (calm !== undefined) return calm
    return fitting.reduce<HostLink | undefined>(
      (best, host) => (best === undefined || host.load < best.load ? host : best),
      undefined,
    )
  }

  /**
   * Hosts that are there, though they may have missed an offer: on a machine that is overloaded all do, and another one
   * would only add to that.
   */
  #present(): HostLink[] {
    const now = performance.now()
    return this.#hosts.filter((host) => host.state === 'open' && host.silence(now) < SILENT_MS)
  }

  #makeRoom(job: HostJob): void {
    if (!job.solo && this.#present().filter((host) => !host.taken).length >= HOSTS_IN_USE) return
    const failed = this.#startFailed
    const pause = failed === undefined ? 0 : failed.at + START_PAUSE_MS - performance.now()
    if (pause <= 0) this.#start()
    else if (this.#hosts.length === 0) setTimeout(() => this.#dispatch(), pause)
  }

  /** How many able hosts the deployment's use asks for. */
  #wanted(): number {
    const now = performance.now()
    return this.#use !== undefined && now - this.#use.since > SPARE_AFTER_MS ? HOSTS_IN_USE : 1
  }

  #noteUse(): void {
    const now = performance.now()
    this.#use = { since: this.#use?.since ?? now, last: now }
    this.#keepWatch()
  }

  #keepWatch(): void {
    if (this.#watch !== undefined) return
    this.#lastWatch = performance.now()
    this.#watch = setInterval(() => this.#look(), WATCH_MS).unref()
  }

  /** Finds silent hosts, and keeps as many at hand as the use asks for. Ends itself when the deployment is not in use. */
  #look(): void {
    const now = performance.now()
    // Held up itself, this process has not read what the hosts have said meanwhile.
    const isLate = now - this.#lastWatch > 2 * WATCH_MS
    this.#lastWatch = now
    if (!isLate) for (const host of this.#hosts) this.#judge(host, host.silence(now))
    if (this.#hosts.some((host) => host.load > 0) || this.#waiting.length > 0) this.#noteUse()
    const idleMs = this.#options.spareIdleMs ?? SPARE_IDLE_MS
    if (this.#use !== undefined && now - this.#use.last > idleMs) this.#use = undefined
    const able = this.#able()
    if (this.#present().length < this.#wanted()) this.#start()
    for (const surplus of able.slice(this.#wanted())) {
      if (surplus.load === 0 && now - surplus.lastWork > SURPLUS_IDLE_MS) surplus.retire()
    }
    if (this.#use !== undefined) return
    if (able.length > 0 && this.#hosts.length <= 1) {
      clearInterval(this.#watch)
      this.#watch = undefined
    }
  }

  #judge(host: HostLink, silentMs: number): void {
    if (host.state === 'starting' || silentMs < SILENT_MS) return
    if (!host.suspect) {
      host.suspect = true
      this.#options.logger.warn({ graph_host: host.pid, runs: host.load }, 'a graph host has fallen silent')
    }
    if (silentMs > this.#options.stallMs) {
      void host.accuse(`A node held up the graph host for ${Math.round(silentMs / 1000)} s.`)
    }
  }

  /** Cancels, and ends the host that does not react. */
  #cancel(job: HostJob): void {
    const host = this.#homes.get(job.id)
    if (host === undefined || host.cancel(job.id)) {
      const at = this.#waiting.indexOf(job)
      if (at >= 0) this.#waiting.splice(at, 1)
      return job.settle({ kind: 'cancelled', state: undefined })
    }
    const check = (): void => {
      if (this.#homes.get(job.id) !== host) return
      const silentMs = host.silence(performance.now())
      if (silentMs < this.#options.cancelGraceMs - WATCH_MS) setTimeout(check, WATCH_MS)
      else host.kill('The graph host was ended because a cancelled run held it up.', job.id)
    }
    setTimeout(check, this.#options.cancelGraceMs)
  }

  /** A host that can be asked now; waits for one that starts. @throws AppError host_unavailable */
  async #freeHost(): Promise<HostLink> {
    for (;;) {
      const host = this.#pick(false)
      if (host !== undefined) return host
      if (this.#stopped) throw new AppError('host_unavailable')
      await this.#whenReady()
    }
  }

  #whenReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      const failed = this.#startFailed
      if (failed !== undefined && performance.now() - failed.at < START_PAUSE_MS) return reject(failed.error)
      this.#readyWaiters.add({ resolve, reject })
      this.#start()
    })
  }
}

function launchOf(options: GraphHostOptions, file: DeploymentFile): HostLaunch {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return {
    nodePath: options.nodePath ?? process.execPath,
    entry: options.entry ?? fileURLToPath(new URL(`../host.${extension}`, import.meta.url)),
    cwd: file.folder,
    env: hostEnvironment(options.environment, file.env),
    open: {
      type: 'open',
      graphs: file.graphs,
      store_index: file.store_index,
      store_ttl: file.store_ttl,
      storage: options.storage,
      tracing_project: options.project,
      tell_files: options.loaded !== undefined,
    },
    logger: options.logger,
    record: options.record,
  }
}
