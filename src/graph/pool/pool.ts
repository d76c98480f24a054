import { AppError } from '../../base/errors.ts'
import type {
  GraphAnswer,
  GraphEnd,
  GraphEvents,
  GraphHost,
  GraphJob,
  GraphState,
} from '../../runs/execute/graph-host.ts'
import type { Tenant } from '../../runs/model.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import { type GraphHostOptions, launchOf } from './launch.ts'
import { type HostLoss, type HostJob, HostLink } from './link.ts'
import type { LoadFailure } from '../project/load-failure.ts'
import { watchHosts } from './watch/watch-hosts.ts'
import { Readiness } from './readiness.ts'

export interface GraphHosts extends GraphHost {
  /** Loads the graphs again from disk: new hosts get the next runs, and old hosts exit after their last run. */
  reload(file: DeploymentFile): void
  /** Vectors of texts, by the deployment's `store.index.embed`. @throws AppError invalid_request without one */
  embed(texts: readonly string[]): Promise<number[][]>
  /** Pids of the running processes. */
  pids(): number[]
  failures(): LoadFailure[]
}

/** Milliseconds without a message after which a host gets no new runs (D-42). */
const SILENT_MS = 1_000
const WATCH_MS = 250
/**
 * After this number of milliseconds of use, a deployment gets a spare host. If the first host is then blocked, runs
 * need not wait for another one to start.
 */
const SPARE_AFTER_MS = 1_000
/** Number of hosts while a deployment is in use: a working host and a spare one. */
const HOSTS_IN_USE = 2
/** Milliseconds without runs after which the spare host ends. */
const SPARE_IDLE_MS = 60_000
const MAX_HOSTS = 8
/** A host with this number of runs gets no more while another host has fewer. */
const LOADED = 4
/** Milliseconds without runs after which a host beyond the wanted number ends. */
const SURPLUS_IDLE_MS = 5_000
/** Minimum time between attempts to load a graph that failed to load. */
const TRY_AGAIN_MS = 30_000
/** Calls for embeddings belong to no tenant, so they get these empty ids. */
const NO_TENANT = { workspace_id: '', deployment_id: '' }
const LOAD_FAILED = { kind: 'failed', error: 'GraphLoadError', retryable: false, state: undefined } as const
const STOPPED: GraphEnd = {
  kind: 'lost',
  culprit: false,
  error: 'HostLost',
  message: 'The server stops.',
  state: undefined,
}

/**
 * Starts hosts for the deployment and executes its runs (D-42): keeps `minHosts` hosts ready, at least two while the
 * deployment is in use, and more if hosts are blocked. A run is offered and then granted, so that two hosts never
 * execute it.
 */
export function createGraphHosts(options: GraphHostOptions): GraphHosts {
  return new HostPool(options)
}

class HostPool implements GraphHosts {
  readonly #options: GraphHostOptions
  readonly #homes = new Map<number, HostLink>()
  readonly #waiting: HostJob[] = []
  /** Ids of runs whose host ended unexpectedly for an unknown reason. */
  readonly #suspects = new Set<string>()
  readonly #readiness: Readiness
  #file: DeploymentFile
  #hosts: HostLink[] = []
  #stopped = false
  #nextId = 1
  #use: { since: number; last: number } | undefined
  /** Time of the last load, or of the start of a load in progress. */
  #loadedAt = 0
  #watch: NodeJS.Timeout | undefined
  readonly #endWatches: () => void
  #lastWatch = 0

  constructor(options: GraphHostOptions) {
    this.#options = options
    this.#file = options.file
    this.#readiness = new Readiness(options.logger)
    this.#endWatches = watchHosts(() => this.#hosts, options)
    this.#start()
  }

  graphs() {
    return this.#file.graphs.map(({ graph_id, language, description, config, context }) => {
      const unavailable = this.#failureOf(graph_id)?.message ?? null
      return { graph_id, language, description, config, context, unavailable }
    })
  }

  pids(): number[] {
    return this.#hosts.map((host) => host.pid)
  }

  failures(): LoadFailure[] {
    return this.#file.graphs.flatMap(({ graph_id }) => this.#failureOf(graph_id) ?? [])
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
        runsAlone: this.#suspects.delete(job.run.run_id),
        settle: (end) => {
          if (over) return
          over = true
          this.#homes.delete(id)
          signal.removeEventListener('abort', onAbort)
          resolve(end.kind === 'lost' && signal.aborted ? { kind: 'cancelled', state: end.state } : end)
        },
      }
      const onAbort = () => this.#cancel(entry, signal.reason !== 'rollback')
      if (this.#stopped) return entry.settle(STOPPED)
      if (signal.aborted) return entry.settle({ kind: 'cancelled', state: undefined })
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(entry)
      this.#noteUse()
      this.#tryAgain(job.run.graph_id)
      this.#dispatch()
    })
  }

  async call(tenant: Tenant, call: Parameters<GraphHost['call']>[1]): Promise<GraphAnswer> {
    this.#tryAgain(call.graph_id)
    const host = await this.#freeHost(call.graph_id)
    return host.call(tenant, call)
  }

  async embed(texts: readonly string[]): Promise<number[][]> {
    const host = await this.#freeHost()
    const { body } = await host.call(NO_TENANT, { name: 'embed', texts: [...texts] })
    return JSON.parse(body) as number[][]
  }

  reload(file: DeploymentFile): void {
    this.#file = file
    this.#readiness.reset()
    for (const host of this.#hosts) host.supersede()
    this.#start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#watch)
    this.#endWatches()
    for (const job of this.#waiting.splice(0)) job.settle(STOPPED)
    this.#readiness.giveUp()
    await Promise.all(this.#hosts.map((host) => host.stop()))
  }

  /** Starts a host, unless a host is starting already or the maximum number is running. */
  #start(): void {
    if (this.#readiness.restartPauseMs > 0) return
    const limit = this.#options.maxHosts ?? MAX_HOSTS
    const hosts = this.#hosts.filter((host) => !host.superseded)
    if (this.#stopped || hosts.length >= limit || hosts.some((host) => host.state === 'starting')) return
    const link = new HostLink(launchOf(this.#options, this.#file), {
      opened: (host) => this.#hostOpened(host),
      free: () => this.#dispatch(),
      passed: (host, job) => {
        this.#homes.delete(job.id)
        this.#waiting.unshift(job)
        this.#options.logger.debug(
          { graph_host: host.pid },
          'graph host did not accept a run in time: its event loop is blocked',
        )
        this.#dispatch()
      },
      gone: (host, loss) => this.#removeHost(host, loss),
      loaded: (files) => this.#options.loaded?.(files),
    })
    this.#hosts.push(link)
    this.#keepWatch()
  }

  /** Handles the opening of a host. Supersedes the hosts on which more graphs failed to load. */
  #hostOpened(link: HostLink): void {
    this.#loadedAt = performance.now()
    if (link.state === 'open') {
      this.#readiness.opened(link.failures)
      for (const host of this.#hosts) {
        if (host.state === 'open' && host.failures.length > link.failures.length) host.supersede()
      }
    }
    this.#dispatch()
  }

  /** The load failure of a graph that no open host can serve. If no host is open, the failure of the last load. */
  #failureOf(graph_id: string): LoadFailure | undefined {
    const open = this.#hosts.filter((host) => host.state === 'open')
    const found = open.map((host) => host.failureOf(graph_id))
    if (found.includes(undefined)) return undefined
    return found[0] ?? this.#readiness.failures.find((failure) => failure.graph_id === graph_id)
  }

  /**
   * Starts another host to load a failed graph again, since a missing module may exist now. The open hosts continue to
   * execute runs.
   */
  #tryAgain(graph_id: string): void {
    const now = performance.now()
    if (now - this.#loadedAt < (this.#options.tryAgainMs ?? TRY_AGAIN_MS)) return
    if (!this.#hosts.some((host) => host.state === 'open') || this.#failureOf(graph_id) === undefined) return
    this.#loadedAt = now
    this.#start()
  }

  #removeHost(link: HostLink, loss: HostLoss): void {
    this.#hosts = this.#hosts.filter((host) => host !== link)
    if (loss.unopened && !this.#stopped) this.#failStart(loss)
    if (loss.lived_ms !== undefined) this.#readiness.ended(loss.lived_ms, loss.message)
    for (const job of loss.offered) {
      this.#homes.delete(job.id)
      this.#waiting.unshift(job)
    }
    for (const job of loss.begun) void this.#lose(job, loss)
    if (loss.begun.length > 0) {
      this.#options.logger.warn({ graph_host: link.pid, runs: loss.begun.length }, loss.message)
    }
    if (!loss.unopened && this.#able().length < this.#wanted()) this.#start()
    this.#keepWatch()
    this.#dispatch()
  }

  #failStart({ message, failures }: HostLoss): void {
    this.#readiness.failed(message, failures)
    if (this.#hosts.some((host) => host.state === 'open')) return
    this.#readiness.giveUp()
    for (const job of this.#waiting.splice(0)) {
      const words = failures.find(({ graph_id }) => graph_id === job.job.run.graph_id)?.message ?? message
      job.settle({ ...LOAD_FAILED, message: words })
    }
  }

  /** Settles a job whose host ended unexpectedly. If the cause is unknown, the run is executed alone next time. */
  async #lose(job: HostJob, { culprit, error, message }: HostLoss): Promise<void> {
    this.#homes.delete(job.id)
    const isCulprit = culprit === job.id
    if (culprit === undefined) this.#suspects.add(job.job.run.run_id)
    const state = isCulprit ? await this.#endState(job) : undefined
    job.settle({ kind: 'lost', culprit: isCulprit, error, message, state })
  }

  /** Reads the last state of a run whose host ended unexpectedly; undefined if it cannot be read. */
  async #endState({ job }: HostJob): Promise<GraphState | undefined> {
    const { graph_id, thread_id, kwargs } = job.run
    const about = { config: { configurable: { thread_id, checkpoint_ns: '' } }, made_with: kwargs.config }
    try {
      const host = await this.#freeHost(graph_id)
      return (await host.call(job.tenant, { name: 'end_state', graph_id, ...about })).state
    } catch {
      return undefined
    }
  }

  #dispatch(): void {
    for (let job = this.#waiting[0]; job !== undefined; job = this.#waiting[0]) {
      const host = this.#pick(job.runsAlone, job.job.run.graph_id)
      if (host === undefined) return this.#makeRoom(job)
      this.#waiting.shift()
      this.#homes.set(job.id, host)
      host.offer(job)
    }
  }

  /** Hosts that are expected to begin a job at once. */
  #able(): HostLink[] {
    return this.#hosts.filter((host) => host.state === 'open' && !host.suspect)
  }

  /**
   * Chooses the host for a job among the free hosts that have loaded the graph, or among all free hosts if none has:
   * the oldest with fewer than LOADED jobs, else the one with the fewest. A job that must run alone gets an idle host.
   */
  #pick(alone: boolean, graph_id?: string): HostLink | undefined {
    const free = this.#able().filter((host) => !host.taken && (!alone || host.load === 0))
    const having = free.filter((host) => graph_id === undefined || host.failureOf(graph_id) === undefined)
    const fitting = having.length > 0 ? having : free
    const calm = fitting.find((host) => host.load < LOADED)
    if (calm !== undefined) return calm
    return fitting.reduce<HostLink | undefined>(
      (best, host) => (best === undefined || host.load < best.load ? host : best),
      undefined,
    )
  }

  /**
   * Hosts that still send messages, including hosts that missed an offer. On an overloaded machine all hosts miss
   * offers, and starting another host would only add to the load.
   */
  #present(): HostLink[] {
    const now = performance.now()
    return this.#hosts.filter((host) => host.state === 'open' && host.silence(now) < SILENT_MS)
  }

  #makeRoom(job: HostJob): void {
    if (!job.runsAlone && this.#present().filter((host) => !host.taken).length >= HOSTS_IN_USE) return
    const pause = this.#readiness.pauseMs
    if (pause <= 0) this.#start()
    else if (this.#hosts.length === 0) setTimeout(() => this.#dispatch(), pause)
  }

  /** Number of responding hosts that the pool keeps: the minimum, or more while the deployment is in use. */
  #wanted(): number {
    const isInUse = this.#use !== undefined && performance.now() - this.#use.since > SPARE_AFTER_MS
    return Math.max(this.#options.minHosts ?? 1, isInUse ? HOSTS_IN_USE : 1)
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

  /** Finds silent hosts, and starts or retires hosts. The checks stop when the deployment is not in use. */
  #look(): void {
    const now = performance.now()
    // If this process itself was blocked, the hosts may only seem silent: their messages have not been read yet.
    const isLate = now - this.#lastWatch > 2 * WATCH_MS
    this.#lastWatch = now
    if (!isLate) for (const host of this.#hosts) this.#judge(host, host.silence(now))
    if (this.#hosts.some((host) => host.load > 0) || this.#waiting.length > 0) this.#noteUse()
    const idleMs = this.#options.spareIdleMs ?? SPARE_IDLE_MS
    if (this.#use !== undefined && now - this.#use.last > idleMs) this.#use = undefined
    const able = this.#able()
    if (this.#present().length < this.#wanted() && this.#readiness.ownPauseMs <= 0) this.#start()
    for (const surplus of able.slice(this.#wanted())) {
      if (surplus.load === 0 && now - surplus.lastWork > SURPLUS_IDLE_MS) surplus.retire()
    }
    if (this.#use !== undefined) return
    if (able.length >= this.#wanted() && this.#hosts.length <= this.#wanted()) {
      clearInterval(this.#watch)
      this.#watch = undefined
    }
  }

  #judge(host: HostLink, silentMs: number): void {
    if (host.state === 'starting' || silentMs < SILENT_MS) return
    if (!host.suspect) {
      host.suspect = true
      this.#options.logger.warn({ graph_host: host.pid, runs: host.load }, 'a graph host does not answer')
    }
    if (silentMs > this.#options.stallMs) {
      void host.endForStall(`A node held up the graph host for ${Math.round(silentMs / 1000)} s.`)
    }
  }

  /** Cancels the job. Kills the host if it then sends no message for `cancelGraceMs`. */
  #cancel(job: HostJob, needsState: boolean): void {
    const host = this.#homes.get(job.id)
    if (host === undefined || host.cancel(job.id, needsState)) {
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

  /** Returns a host for a call, and waits if hosts are still starting. @throws AppError host_unavailable */
  async #freeHost(graph_id?: string): Promise<HostLink> {
    for (;;) {
      const host = this.#pick(false, graph_id)
      if (host !== undefined) return host
      if (this.#stopped) throw new AppError('host_unavailable')
      await this.#readiness.wait(() => this.#start())
    }
  }
}
