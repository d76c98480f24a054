import { GraphLoadError } from '../project/load-failure.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type {
  GraphAnswer,
  GraphEnd,
  GraphEvents,
  GraphJob,
  LostError,
} from '../../runs/execute/graph-host.ts'
import type { Tenant } from '../../runs/model.ts'
import { toJsonText } from '../../schema/raw-json.ts'
import type { Frame } from './channel.ts'
import { type FindHeldUp, findHeldUpBy } from './inspector/inspector.ts'
import {
  describeExit,
  type HostExit,
  type HostLaunch,
  type HostNotes,
  type HostProcess,
  type PrintedLines,
  isFromOutside,
  lostErrorOf,
  startHostProcess,
} from './process.ts'
import type { LoadFailure } from '../project/load-failure.ts'
import { FROM_HOST_HEADS, type FromHost, type HostCall } from './messages.ts'
import { readAnswer, readEnd } from './results.ts'

/** A job that is assigned to a host or waits for one. */
export interface HostJob {
  readonly id: number
  readonly job: GraphJob
  readonly events: GraphEvents
  /** True if a host ended for an unknown reason while it executed this job. The job must then run alone on a host. */
  readonly runsAlone: boolean
  /** Reports how the job ended; only the first call counts. */
  settle(end: GraphEnd): void
}

/** The unexpected end of a host's process, and the jobs that the host had. */
export interface HostLoss {
  begun: HostJob[]
  /** Jobs that had not begun. Another host may execute them. */
  offered: HostJob[]
  /** The job that caused the host's end, if known. */
  culprit: number | undefined
  error: LostError
  message: string
  /** Whether the host failed to open because of its graphs. False for a host that was killed from outside. */
  unopened: boolean
  failures: readonly LoadFailure[]
  /** Time since the host was opened, if it has ended by itself while it had no job; undefined otherwise. */
  lived_ms: number | undefined
}

export interface LinkEvents {
  /** Called when the host has opened. It may already be superseded then. */
  opened(link: HostLink): void
  /** Called when the host responds again, or has finished a job. */
  free(link: HostLink): void
  /** Called when the host has not accepted the job in time. */
  passed(link: HostLink, job: HostJob): void
  gone(link: HostLink, loss: HostLoss): void
  /** Called when the host has loaded, or tried to load, these modules (absolute paths). */
  loaded(files: readonly string[]): void
}

interface Held {
  job: HostJob
  begun: boolean
  timer: NodeJS.Timeout | undefined
}

interface PendingCall {
  resolve(answer: GraphAnswer): void
  reject(error: AppError): void
}

interface Blame {
  message: string
  error?: LostError
  culprit: number | undefined
}

/** Time limit for the answer to an offer. After it, the host counts as blocked and another host gets the job. */
const OFFER_MS = 100
/** Time limit for the exit of a host, after which it is killed. */
const STOP_MS = 2_000
/**
 * Time limits for the start of a host and for loading one graph. A host ends the load of a graph itself, unless the
 * module blocks it.
 */
const START_MS = 60_000
const LOAD_MS = 60_000

/** One graph host as the server sees it, from the start of its process to the end of the process. */
export class HostLink {
  /** `retired`: the host gets no new work, and exits when its jobs are done. */
  state: 'starting' | 'open' | 'retired' | 'gone' = 'starting'
  /** True while the host has not sent a message that is due. Such a host gets no new work. */
  suspect = false
  /** Graphs that the host could not load; known once it is open. */
  failures: readonly LoadFailure[] = []
  /** Time at which the host last had work, by `performance.now()`. */
  lastWork = performance.now()
  readonly #process: HostProcess
  readonly #events: LinkEvents
  readonly #logger: Logger
  readonly #printed: PrintedLines | undefined
  readonly #noted: HostNotes | undefined
  readonly #mask: (text: string) => string
  readonly #findHeldUp: FindHeldUp
  readonly #held = new Map<number, Held>()
  readonly #calls = new Map<number, PendingCall>()
  #nextCall = 1
  #owesSince = this.lastWork
  #lastWord = this.lastWork
  #openedAt: number | undefined
  #superseded = false
  #stalled = false
  #blame: Blame | undefined
  readonly #opening: NodeJS.Timeout

  constructor(launch: HostLaunch, events: LinkEvents) {
    this.#events = events
    this.#logger = launch.logger
    this.#printed = launch.printed
    this.#noted = launch.noted
    this.#mask = launch.mask ?? ((text) => text)
    this.#findHeldUp = launch.findHeldUp ?? findHeldUpBy
    this.#process = startHostProcess(launch, FROM_HOST_HEADS, (frame) => this.#receive(frame))
    void this.#process.exited.then((exit) => this.#lost(exit))
    const openMs = launch.openMs ?? START_MS + LOAD_MS * launch.open.graphs.length
    this.#opening = setTimeout(() => {
      this.kill(`The graphs took longer than ${openMs / 1000} s to load.`)
    }, openMs).unref()
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Number of jobs that are offered or have begun. */
  get load(): number {
    return this.#held.size
  }

  /** True while the host executes a job that runs alone. */
  get taken(): boolean {
    return [...this.#held.values()].some(({ job }) => job.runsAlone)
  }

  /** Why the host cannot serve the graph; undefined when it can. */
  failureOf(graph_id: string): LoadFailure | undefined {
    return this.failures.find((failure) => failure.graph_id === graph_id)
  }

  /** Milliseconds since a message was expected; 0 when none is expected. */
  silence(now: number): number {
    return this.#isIdle ? 0 : now - Math.max(this.#lastWord, this.#owesSince)
  }

  /** Offers a job. It begins when the host accepts it. If the host does not accept it in time, `passed` is called. */
  offer(job: HostJob): void {
    this.#owe()
    const item: Held = { job, begun: false, timer: undefined }
    this.#held.set(job.id, item)
    this.#awaitTaking(item, OFFER_MS)
    this.#process.channel.send({ type: 'offer', id: job.id }, [toJsonText(job.job)])
  }

  /** Withdraws the offer of a job and returns true, or sends a cancel for a job that has begun and returns false. */
  cancel(id: number, needsState: boolean): boolean {
    const found = this.#held.get(id)
    if (found?.begun === true) {
      this.#process.channel.send({ type: 'cancel', id, ...(!needsState && { state: false }) })
      return false
    }
    if (found !== undefined) {
      this.#process.channel.send({ type: 'drop', id })
      this.#drop(found)
    }
    return true
  }

  /** Calls the host. @throws AppError the host's refusal; host_unavailable when its process ends unexpectedly */
  call(tenant: Tenant, call: HostCall): Promise<GraphAnswer> {
    this.#owe()
    const id = this.#nextCall++
    return new Promise((resolve, reject) => {
      if (this.state === 'gone') return reject(new AppError('host_unavailable'))
      this.#calls.set(id, { resolve, reject })
      this.#process.channel.send({ type: 'call', id, tenant }, [toJsonText(call)])
    })
  }

  /** True if other hosts have newer code. */
  get superseded(): boolean {
    return this.#superseded
  }

  /**
   * Retires the host because other hosts have newer code. After this, its end does not count as a failure of the
   * graphs.
   */
  supersede(): void {
    this.#superseded = true
    this.retire()
  }

  retire(): void {
    if (this.state !== 'gone') this.state = 'retired'
    this.#endIfDone()
  }

  /** Kills the host; `culprit` is the job that made this necessary, if known. */
  kill(message: string, culprit?: number): void {
    this.#blame ??= { message, culprit }
    this.#process.kill()
  }

  /** Kills the host because of its memory. If exactly one job has begun on it, that job is the cause. */
  endForMemory(message: string): void {
    this.#blame ??= { message, error: 'OutOfMemory', culprit: this.#onlyBegun() }
    this.#process.kill()
  }

  /** Finds the job that blocks the host, and kills the host. */
  async endForStall(message: string): Promise<void> {
    if (this.#stalled) return
    this.#stalled = true
    const { job, where } = await this.#findHeldUp(
      () => this.#process.signal('SIGUSR1'),
      this.#process.onStderr,
    )
    this.kill(where === undefined ? message : `${message} (${where})`, job ?? this.#onlyBegun())
  }

  async stop(): Promise<void> {
    if (this.state !== 'gone') this.state = 'retired'
    this.#blame ??= { message: 'The graph host was stopped.', culprit: undefined }
    this.#process.channel.send({ type: 'stop' })
    const timer = setTimeout(() => this.#process.kill(), STOP_MS)
    await this.#process.exited
    clearTimeout(timer)
  }

  /** Id of the only job that has begun; undefined if there are none or several. */
  #onlyBegun(): number | undefined {
    const begun = [...this.#held.values()].filter((item) => item.begun)
    return begun.length === 1 ? begun[0]?.job.id : undefined
  }

  get #isIdle(): boolean {
    return this.#held.size + this.#calls.size === 0
  }

  #owe(): void {
    this.lastWork = performance.now()
    if (this.#isIdle) this.#owesSince = this.lastWork
  }

  #awaitTaking(item: Held, ms: number): void {
    item.timer = setTimeout(() => {
      const silentMs = performance.now() - Math.max(this.#lastWord, this.#owesSince)
      if (silentMs < OFFER_MS) return this.#awaitTaking(item, OFFER_MS - silentMs + 1)
      this.suspect = true
      this.#process.channel.send({ type: 'drop', id: item.job.id })
      this.#drop(item)
      this.#events.passed(this, item.job)
    }, ms)
  }

  #receive({ head, parts }: Frame<FromHost>): void {
    this.#lastWord = performance.now()
    const wasSuspect = this.suspect
    this.suspect = false
    if (head.type === 'items') {
      const items = head.events.map((event, i) => ({ event, data: parts[i]?.toString('utf8') ?? 'null' }))
      this.#held.get(head.id)?.job.events.items(items)
    } else if (head.type === 'trace') {
      this.#held.get(head.id)?.job.events.trace(parts[0] ?? new Uint8Array())
    } else if (head.type === 'ready') this.#grant(head.id)
    else if (head.type === 'end') this.#finish(head.id, readEnd(head, parts))
    else if (head.type === 'answer') this.#settleCall(head.id)?.resolve(readAnswer(head, parts))
    else if (head.type === 'refused') {
      const error = head.broken
        ? new GraphLoadError(head)
        : new AppError(head.code, { message: head.message })
      this.#settleCall(head.id)?.reject(error)
    } else this.#receiveStatus(head)
    if (wasSuspect) this.#events.free(this)
  }

  #receiveStatus(head: FromHost): void {
    if (head.type === 'culprit') this.#blame = { message: head.message, culprit: head.id }
    else if (head.type === 'retire') this.retire()
    else if (head.type === 'log') this.#log(head)
    else if (head.type === 'failed') {
      this.failures = this.#masked(head.failures)
      this.kill(head.message)
    } else if (head.type === 'loaded') this.#events.loaded(head.files)
    else if (head.type === 'opened') {
      clearTimeout(this.#opening)
      this.#openedAt = performance.now()
      this.failures = this.#masked(head.failures)
      if (this.state === 'starting') this.state = 'open'
      this.#noted?.('INFO', `The graph host ${this.pid} has started.`)
      this.#events.opened(this)
    }
  }

  #masked(failures: readonly LoadFailure[]): LoadFailure[] {
    const mask = this.#mask
    return failures.map((one) => ({ ...one, reason: mask(one.reason), message: mask(one.message) }))
  }

  #log({ id, level, text, fields, node }: Extract<FromHost, { type: 'log' }>): void {
    const run = id === null ? undefined : this.#held.get(id)?.job.job.run
    const about = { graph_host: this.pid, graph: run?.graph_id, run_id: run?.run_id, node: node ?? undefined }
    if (this.#printed)
      this.#printed(level === 'warn' || level === 'error' ? 'stderr' : 'stdout', text, this.pid)
    else this.#logger[level]({ ...about, text, fields: fields ?? undefined }, 'graph logged')
  }

  #grant(id: number): void {
    const found = this.#held.get(id)
    if (found === undefined) return
    clearTimeout(found.timer)
    found.begun = true
    this.#process.channel.send({ type: 'go', id })
  }

  #finish(id: number, end: GraphEnd): void {
    const found = this.#held.get(id)
    if (found === undefined) return
    this.#drop(found)
    found.job.settle(end)
    this.#events.free(this)
  }

  #drop({ job, timer }: Held): void {
    clearTimeout(timer)
    this.#held.delete(job.id)
    this.lastWork = performance.now()
    this.#endIfDone()
  }

  #settleCall(id: number): PendingCall | undefined {
    const found = this.#calls.get(id)
    this.#calls.delete(id)
    this.#endIfDone()
    return found
  }

  #endIfDone(): void {
    if (this.state === 'retired' && this.#isIdle) void this.stop()
  }

  #lost(exit: HostExit): void {
    const wasRetired = this.state === 'retired'
    this.state = 'gone'
    clearTimeout(this.#opening)
    const all = [...this.#held.values()]
    this.#held.clear()
    for (const { timer } of all) clearTimeout(timer)
    const message = this.#mask(this.#blame?.message ?? describeExit(exit))
    const error = this.#blame === undefined ? lostErrorOf(exit) : (this.#blame.error ?? 'HostLost')
    for (const call of this.#calls.values()) call.reject(new AppError('host_unavailable', { message }))
    this.#calls.clear()
    const begun = all.filter((item) => item.begun).map(({ job }) => job)
    const runs = begun.length === 0 ? '' : ` Runs that it executed: ${begun.length}.`
    this.#noted?.(wasRetired ? 'INFO' : 'WARNING', `The graph host ${this.pid} has ended: ${message}${runs}`)
    this.#events.gone(this, {
      begun,
      offered: all.filter((item) => !item.begun).map(({ job }) => job),
      culprit: this.#blame === undefined ? onlyCulprit(begun, exit) : this.#blame.culprit,
      error,
      message,
      unopened:
        this.#openedAt === undefined &&
        !this.#superseded &&
        (this.#blame !== undefined || !isFromOutside(exit)),
      failures: this.failures,
      lived_ms:
        this.#openedAt === undefined || wasRetired || all.length > 0
          ? undefined
          : performance.now() - this.#openedAt,
    })
  }
}

/**
 * The id of the job that caused the end of a host, if only one had begun. Undefined if the host was killed from
 * outside, because then no job is the cause.
 */
function onlyCulprit(begun: readonly HostJob[], exit: HostExit): number | undefined {
  return begun.length === 1 && !isFromOutside(exit) ? begun[0]?.id : undefined
}
