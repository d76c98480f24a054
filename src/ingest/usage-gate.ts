import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { comparePositions, type LogPosition } from './log/position.ts'
import type { TraceTally, UsageLimit, UsageLimitStore } from '../usage/limits.ts'

export interface GateRequest {
  workspace_id: string
  api_key_id: string
  /** All traces that the request begins or names. */
  traces(): ReadonlySet<string>
}

export interface Passage {
  /** Messages for the caller about soft limits that are reached. */
  warnings: string[]
  /** New traces that a hard limit refuses, and the error to return. Everything else of the request must be stored. */
  refused: { traces: ReadonlySet<string>; error: AppError } | undefined
  /** Must be called once, with the end of the logged data, or undefined if nothing was logged. */
  logged(end: LogPosition | undefined): void
}

/** Enforces the monthly limits of callers. */
export interface UsageGate {
  /**
   * Accepts a request. Once a hard limit is reached, traces that are not counted yet are refused; the request that
   * reaches the limit is accepted whole. If limits or counts cannot be read, everything is accepted, so that no data is
   * lost.
   */
  pass(request: GateRequest): Passage | Promise<Passage>
}

export interface UsageGateDeps {
  limits: UsageLimitStore
  tally: TraceTally
  /** The position up to which the log is stored and counted. */
  stored(): LogPosition
  /** Resolves when everything before the position is stored and counted. */
  reached(position: LogPosition): Promise<void>
  clock: Clock
  logger: Logger
}

const FREE: Passage = { warnings: [], refused: undefined, logged: () => undefined }
/** Time for which a count is valid; a new count includes traces of other processes. */
const COUNT_MS = 1_000
/** Interval of log lines about a reached soft limit. */
const WARN_EVERY_MS = 3_600_000

/** A gate over the configured limits; requests of callers without a limit are accepted at once. */
export function createUsageGate(deps: UsageGateDeps): UsageGate {
  const meters = new Map<string, Meter>()
  const meterOf = (limit: UsageLimit): Meter => {
    const month = monthOf(deps.clock.now())
    const known = meters.get(limit.id)
    const meter = known?.month.start === month.start ? known : new Meter(deps, limit, month)
    meter.limit = limit
    meters.set(limit.id, meter)
    return meter
  }

  const enter = async (limits: readonly UsageLimit[], request: GateRequest): Promise<Passage> => {
    const mine = limits.map(meterOf)
    await Promise.all(mine.map((meter) => meter.refresh()))
    const soft = mine.filter(({ limit, isFull }) => limit.mode === 'soft' && isFull)
    await Promise.all(soft.map((meter) => meter.countLogged()))
    const traces = request.traces()
    let refused: Passage['refused']
    for (let full = findFull(mine); full !== undefined; full = findFull(mine)) {
      await full.countLogged()
      if (!full.isFull) continue
      const fresh = await newTraces(deps, request.workspace_id, traces)
      if (fresh.size > 0) refused = { traces: fresh, error: full.reached() }
      break
    }
    // There is no `await` between here and the return, so of two concurrent requests the second counts the traces of
    // the first.
    const warnings = mine.flatMap((meter) => meter.warning() ?? [])
    const passing = refused === undefined ? traces : new Set<string>()
    for (const meter of mine) meter.await(request.workspace_id, passing)
    return {
      warnings,
      refused,
      logged: (end) => {
        for (const meter of mine) meter.logged(request.workspace_id, passing, end)
      },
    }
  }

  const choose = (all: readonly UsageLimit[], request: GateRequest): Passage | Promise<Passage> => {
    const mine = all.filter((limit) => concerns(limit, request))
    return mine.length === 0 ? FREE : enter(mine, request)
  }

  const read = async (reading: Promise<readonly UsageLimit[]>, request: GateRequest): Promise<Passage> => {
    try {
      return await choose(await reading, request)
    } catch (error) {
      deps.logger.warn({ err: error }, 'usage limits cannot be read, so the request is accepted')
      return FREE
    }
  }

  return {
    pass(request) {
      const limits = deps.limits.snapshot()
      return limits instanceof Promise ? read(limits, request) : choose(limits, request)
    },
  }
}

function concerns(limit: UsageLimit, request: GateRequest): boolean {
  return limit.workspace_id === request.workspace_id || limit.api_key_id === request.api_key_id
}

function findFull(meters: readonly Meter[]): Meter | undefined {
  return meters.find((meter) => meter.limit.mode === 'hard' && meter.isFull)
}

/** The traces that are not counted yet. Operations of a counted trace are never refused. */
async function newTraces(
  { tally, logger }: UsageGateDeps,
  workspace_id: string,
  traces: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  try {
    const known = await tally.known(workspace_id, [...traces])
    return new Set([...traces].filter((trace) => !known.has(trace)))
  } catch (error) {
    logger.warn({ err: error }, 'usage limit: the store does not answer, so the request is accepted')
    return new Set()
  }
}

interface Month {
  /** Epoch milliseconds, UTC. */
  start: number
  end: number
}

function monthOf(now: number): Month {
  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
}

/** A limit in one month: the count from the store, and the accepted traces that it does not include. */
class Meter {
  limit: UsageLimit
  readonly month: Month
  readonly #deps: UsageGateDeps
  #counted = 0
  #countedAt = Number.NEGATIVE_INFINITY
  /**
   * The running count, and the count that begins after it. Counts do not overlap, so that an older result cannot
   * replace a newer one.
   */
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #warnedAt = Number.NEGATIVE_INFINITY
  /** Traces accepted since the last count, by workspace and id, with their end in the log once it is known. */
  readonly #onTheirWay = new Map<string, LogPosition | undefined>()

  constructor(deps: UsageGateDeps, limit: UsageLimit, month: Month) {
    this.#deps = deps
    this.limit = limit
    this.month = month
  }

  get isFull(): boolean {
    return this.#counted + this.#onTheirWay.size >= this.limit.limit_value
  }

  /** Counts again if the last count is no longer valid. */
  async refresh(): Promise<void> {
    if (this.#deps.clock.steady() - this.#countedAt < COUNT_MS) return
    await (this.#running ?? this.#start())
  }

  #start(): Promise<void> {
    return (this.#running = this.#count().finally(() => (this.#running = undefined)))
  }

  /** Starts a count that includes everything stored now. */
  #recount(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    return (this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return this.#start()
    }))
  }

  /** Waits until the logged traces have been counted, unless the store's count alone has reached the limit. */
  async countLogged(): Promise<void> {
    if (this.#counted >= this.limit.limit_value) return this.refresh()
    try {
      const ends = [...this.#onTheirWay.values()].filter((end) => end !== undefined)
      const last = ends.reduce<LogPosition | undefined>(
        (a, b) => (a && comparePositions(a, b) > 0 ? a : b),
        undefined,
      )
      if (last) await this.#deps.reached(last)
    } catch (error) {
      this.#letPass(error)
      return
    }
    await this.#recount()
  }

  async #count(): Promise<void> {
    const { tally, stored, clock } = this.#deps
    const upTo = stored()
    const now = clock.steady()
    try {
      this.#counted = await tally.count(this.limit, this.month.start, this.month.end)
    } catch (error) {
      this.#letPass(error)
      return
    }
    this.#countedAt = now
    for (const [trace, end] of this.#onTheirWay)
      if (end && comparePositions(end, upTo) <= 0) this.#onTheirWay.delete(trace)
  }

  #letPass(error: unknown): void {
    this.#deps.logger.warn({ err: error, limit: this.limit.id }, 'usage limit: the store could not be asked')
    this.#counted = 0
    this.#onTheirWay.clear()
    this.#countedAt = this.#deps.clock.steady()
  }

  await(workspace_id: string, traces: ReadonlySet<string>): void {
    for (const trace of traces) {
      const key = workspace_id + trace
      if (!this.#onTheirWay.has(key)) this.#onTheirWay.set(key, undefined)
    }
  }

  logged(workspace_id: string, traces: ReadonlySet<string>, end: LogPosition | undefined): void {
    for (const trace of traces) {
      const key = workspace_id + trace
      if (!this.#onTheirWay.has(key)) continue
      if (end) this.#onTheirWay.set(key, end)
      else if (this.#onTheirWay.get(key) === undefined) this.#onTheirWay.delete(key)
    }
  }

  reached(): AppError {
    const retry_after = Math.max(1, Math.ceil((this.month.end - this.#deps.clock.now()) / 1000))
    return new AppError('usage_limit_reached', {
      message: `${this.#says()} It is reset at ${new Date(this.month.end).toISOString()}.`,
      details: { retry_after },
    })
  }

  /** The warning about a soft limit, for every response; also logs it from time to time. */
  warning(): string | undefined {
    if (this.limit.mode !== 'soft' || !this.isFull) return undefined
    const now = this.#deps.clock.steady()
    if (now - this.#warnedAt >= WARN_EVERY_MS) {
      this.#warnedAt = now
      const { id, workspace_id, api_key_id, limit_value } = this.limit
      this.#deps.logger.warn({ limit: id, workspace_id, api_key_id, limit_value }, 'a usage limit is reached')
    }
    return this.#says()
  }

  #says(): string {
    const whose = this.limit.workspace_id === null ? 'API key' : 'workspace'
    return `The ${whose} has reached its limit of ${this.limit.limit_value} traces this month.`
  }
}
