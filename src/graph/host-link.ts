import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { GraphAnswer, GraphEnd, GraphEvents, GraphJob, GraphState } from '../runs/graph-host.ts'
import type { Tenant } from '../runs/model.ts'
import type { Frame } from './channel.ts'
import { findHeldUpBy } from './host-inspector.ts'
import { type HostExit, type HostLaunch, type HostProcess, startHostProcess } from './host-process.ts'
import type { LoadFailure } from './load-failure.ts'
import type { FromHost, HostCall, StateHead } from './messages.ts'

/** A job on its way through the hosts. */
export interface HostJob {
  readonly id: number
  readonly job: GraphJob
  readonly events: GraphEvents
  /** Its host died for an unknown reason: it is now executed alone, so that the next death shows whether it was the cause. */
  readonly solo: boolean
  /** Tells how it ended; only the first word counts. */
  settle(end: GraphEnd): void
}

/** What died with a host. */
export interface HostDeath {
  /** Jobs that were begun. */
  begun: HostJob[]
  /** Jobs that never were: another host may have them. */
  offered: HostJob[]
  /** The job that is to blame, when that is known. */
  culprit: number | undefined
  message: string
  /** It could not open: what it says is of the graphs. One that was killed from outside says nothing of them. */
  unopened: boolean
  /** The graphs that it could not load. */
  failures: readonly LoadFailure[]
}

/** Calls of the pool by a link. */
export interface LinkEvents {
  /** The host has opened; it may have been superseded meanwhile. */
  opened(link: HostLink): void
  /** The host has something to say after silence, or has one job less. */
  free(link: HostLink): void
  /** The job was not taken in time. */
  passed(link: HostLink, job: HostJob): void
  gone(link: HostLink, death: HostDeath): void
  /** Modules that it has loaded, or looked for, as absolute paths. */
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
  culprit: number | undefined
}

/** A host that has an offer and says nothing at all for so long is passed over: something holds up its event loop. */
const OFFER_MS = 100
/** How long a host may take to end by itself. */
const STOP_MS = 2_000

/** The server's side of one graph host, from the start of its process to its end. */
export class HostLink {
  /** `retired`: it gets no new work, and ends when what it has is done. */
  state: 'starting' | 'open' | 'retired' | 'gone' = 'starting'
  /** It owes a word and has been silent: no new work for it. */
  suspect = false
  /** The graphs that it could not load; known once it is open. */
  failures: readonly LoadFailure[] = []
  /** When it last had work, by `performance.now()`. */
  lastWork = performance.now()
  readonly #process: HostProcess
  readonly #events: LinkEvents
  readonly #logger: Logger
  readonly #held = new Map<number, Held>()
  readonly #calls = new Map<number, PendingCall>()
  #nextCall = 1
  #owesSince = this.lastWork
  #lastWord = this.lastWork
  #opened = false
  #superseded = false
  #accused = false
  #blame: Blame | undefined

  constructor(launch: HostLaunch, events: LinkEvents) {
    this.#events = events
    this.#logger = launch.logger
    this.#process = startHostProcess(launch, (frame) => this.#hear(frame))
    void this.#process.exited.then((exit) => this.#die(exit))
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Jobs offered and begun. */
  get load(): number {
    return this.#held.size
  }

  /** It executes a solo job. */
  get taken(): boolean {
    return [...this.#held.values()].some(({ job }) => job.solo)
  }

  /** Why it cannot serve the graph; undefined when it can. */
  failureOf(graph_id: string): LoadFailure | undefined {
    return this.failures.find((failure) => failure.graph_id === graph_id)
  }

  /** How long it has owed a word, in ms; 0 when it owes none. */
  silence(now: number): number {
    return this.#isIdle ? 0 : now - Math.max(this.#lastWord, this.#owesSince)
  }

  /** Offers a job; if it is taken it begins, else `passed` tells. */
  offer(job: HostJob): void {
    this.#owe()
    const item: Held = { job, begun: false, timer: undefined }
    this.#held.set(job.id, item)
    this.#awaitTaking(item, OFFER_MS)
    this.#process.channel.send({ type: 'offer', id: job.id, job: job.job })
  }

  /** Takes back an offer, or tells the host to cancel. True when the job was not begun. */
  cancel(id: number): boolean {
    const found = this.#held.get(id)
    if (found?.begun === true) {
      this.#process.channel.send({ type: 'cancel', id })
      return false
    }
    if (found !== undefined) {
      this.#process.channel.send({ type: 'drop', id })
      this.#drop(found)
    }
    return true
  }

  /** @throws AppError what the host refuses with; host_unavailable when it dies */
  call(tenant: Tenant, call: HostCall): Promise<GraphAnswer> {
    this.#owe()
    const id = this.#nextCall++
    return new Promise((resolve, reject) => {
      if (this.state === 'gone') return reject(new AppError('host_unavailable'))
      this.#calls.set(id, { resolve, reject })
      this.#process.channel.send({ type: 'call', id, tenant, call })
    })
  }

  /** Others have newer code than it. */
  get superseded(): boolean {
    return this.#superseded
  }

  /** Retires it because others have newer code: however it ends now, nothing is said of the graphs. */
  supersede(): void {
    this.#superseded = true
    this.retire()
  }

  retire(): void {
    if (this.state !== 'gone') this.state = 'retired'
    this.#endIfDone()
  }

  /** Ends it at once: `culprit` is the job that made it necessary, if one did. */
  kill(message: string, culprit?: number): void {
    this.#blame ??= { message, culprit }
    this.#process.kill()
  }

  /** Ends it because it is held up, after finding out by which job. */
  async accuse(message: string): Promise<void> {
    if (this.#accused) return
    this.#accused = true
    const { job, where } = await findHeldUpBy(this.pid, this.#process.onStderr)
    const begun = [...this.#held.values()].filter((item) => item.begun)
    const only = begun.length === 1 ? begun[0]?.job.id : undefined
    this.kill(where === undefined ? message : `${message} (${where})`, job ?? only)
  }

  async stop(): Promise<void> {
    if (this.state !== 'gone') this.state = 'retired'
    this.#blame ??= { message: 'The graph host was stopped.', culprit: undefined }
    this.#process.channel.send({ type: 'stop' })
    const timer = setTimeout(() => this.#process.kill(), STOP_MS)
    await this.#process.exited
    clearTimeout(timer)
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

  #hear({ head, parts }: Frame<FromHost>): void {
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
      this.#settleCall(head.id)?.reject(new AppError(head.code, { message: head.message }))
    } else this.#hearOfItself(head)
    if (wasSuspect) this.#events.free(this)
  }

  #hearOfItself(head: FromHost): void {
    if (head.type === 'culprit') this.#blame = { message: head.message, culprit: head.id }
    else if (head.type === 'retire') this.retire()
    else if (head.type === 'log') this.#log(head)
    else if (head.type === 'failed') {
      this.failures = head.failures
      this.kill(head.message)
    } else if (head.type === 'loaded') this.#events.loaded(head.files)
    else if (head.type === 'opened') {
      this.#opened = true
      this.failures = head.failures
      if (this.state === 'starting') this.state = 'open'
      this.#events.opened(this)
    }
  }

  #log({ id, level, text, fields, node }: Extract<FromHost, { type: 'log' }>): void {
    const run = id === null ? undefined : this.#held.get(id)?.job.job.run
    const about = { graph_host: this.pid, graph: run?.graph_id, run_id: run?.run_id, node: node ?? undefined }
    this.#logger[level]({ ...about, text, fields: fields ?? undefined }, 'graph logged')
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

  #die(exit: HostExit): void {
    this.state = 'gone'
    const all = [...this.#held.values()]
    this.#held.clear()
    for (const { timer } of all) clearTimeout(timer)
    const message = this.#blame?.message ?? describeExit(exit)
    for (const call of this.#calls.values()) call.reject(new AppError('host_unavailable', { message }))
    this.#calls.clear()
    const begun = all.filter((item) => item.begun).map(({ job }) => job)
    this.#events.gone(this, {
      begun,
      offered: all.filter((item) => !item.begun).map(({ job }) => job),
      culprit: this.#blame === undefined ? onlyCulprit(begun, exit) : this.#blame.culprit,
      message,
      unopened: !this.#opened && !this.#superseded && (this.#blame !== undefined || !isFromOutside(exit)),
      failures: this.failures,
    })
  }
}

function readEnd(head: Extract<FromHost, { type: 'end' }>, parts: readonly Buffer[]): GraphEnd {
  const state = readState(head.state, parts)
  if (head.end.kind !== 'done') return { ...head.end, state }
  const own = parts.at(-1)?.toString('utf8') ?? null
  const values = head.values === 'own' ? own : head.values === 'state' ? (state?.values_json ?? null) : null
  return { kind: 'done', state, values }
}

function readAnswer(head: Extract<FromHost, { type: 'answer' }>, parts: readonly Buffer[]): GraphAnswer {
  const body = parts[0]?.toString('utf8') ?? 'null'
  const state = readState(head.state, parts.slice(1))
  return { body, ...(state && { state }), ...(head.next !== undefined && { next: head.next }) }
}

function readState(head: StateHead | null, [values, rest]: readonly Buffer[]): GraphState | undefined {
  if (head === null || values === undefined || rest === undefined) return undefined
  return { ...head, values_json: values.toString('utf8'), rest_json: rest.toString('utf8') }
}

/** Who was alone in a host that broke is to blame; who was alone in one that was killed from outside is not. */
function onlyCulprit(begun: readonly HostJob[], exit: HostExit): number | undefined {
  return begun.length === 1 && !isFromOutside(exit) ? begun[0]?.id : undefined
}

function isFromOutside({ signal }: HostExit): boolean {
  return signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT'
}

const OUT_OF_MEMORY = /heap out of memory|Allocation failed/i

function describeExit({ code, signal, stderr }: HostExit): string {
  if (OUT_OF_MEMORY.test(stderr)) return 'The graph host ran out of memory.'
  return `The graph host ended unexpectedly (${signal ?? `code ${code}`}).`
}
