import { ConfirmedInserts } from '../../trace/rows/confirmed-inserts.ts'
import { RecentMap } from '../../base/recent-map.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { COUNTED_TRACE_ROWS, countedTraces } from './counted-trace.ts'
import { BASIS, type UsageClaim, type UsagePeriod, USAGE_CLAIM_ROWS } from './claim.ts'

/** An hour (whole hours since 1970) of a workspace. */
export interface UsageHour {
  workspace_id: string
  hour: number
}

/**
 * Stores the counting of traces. Rows are RowBinary. Each promise resolves only when the rows are durable and every
 * later read of any process returns them; failures are AppErrors like those of TraceStore.
 */
export interface UsageStore {
  /** Adds claims; adding the same claims again changes nothing. */
  addClaims(rows: readonly Uint8Array[], signal?: AbortSignal): Promise<void>
  /** At least the best claim per trace, basis and hour on the given traces. */
  claims(workspace_id: string, trace_ids: readonly string[]): Promise<Uint8Array>
  /** Adds rows of counted traces; of the same workspace, hour and trace the highest version is kept. */
  addCounted(rows: readonly Uint8Array[], signal?: AbortSignal): Promise<void>
  /** Records, with the time of the store's clock, that these hours have changed. */
  mark(hours: readonly UsageHour[], signal?: AbortSignal): Promise<void>
}

/** Counts traces: converts the claims of operations to counted traces (ADR 0015). */
export interface UsageRecorder {
  /** Operations received outside of these periods make no claims. */
  readonly periods: readonly UsagePeriod[]
  /**
   * Resolves when the claims (rows of `usage_claims`) are counted. A call may be interrupted at any point if it is
   * repeated until it is complete. One call at a time.
   */
  record(claims: readonly Uint8Array[], signal?: AbortSignal): Promise<void>
  /** Number of `record` calls that have counted a trace; increases when there may be changes to roll up. */
  readonly recorded: number
}

export interface UsageRecorderDeps {
  store: UsageStore
  /** Whether no other process writes to the store. Claims may then be read while own claims are added. */
  exclusive: boolean
  /** The periods in which traces are counted; set before this process accepts its first request. */
  periods: readonly UsagePeriod[]
  /** Number of traces whose claims are cached; default 100,000 (about 30 MB). */
  remembered?: number
}

/**
 * Time after sending a mark for which the mark covers changes. It must be less than the time by which a complete
 * rollup is younger than the last mark (storage/clickhouse/usage/rollups.ts).
 */
const MARK_HOLDS_MS = 3_000
const MAX_MARKS = 10_000

export function createUsageRecorder(deps: UsageRecorderDeps): UsageRecorder {
  return new ClaimRecorder(deps)
}

class ClaimRecorder implements UsageRecorder {
  readonly #deps: UsageRecorderDeps
  /** The highest rank of a counted claim for each trace and basis. Claims of at most this rank have no effect. */
  readonly #memory: RecentMap<string, (bigint | undefined)[]>
  /** Time of the last mark of each hour. */
  readonly #marked = new RecentMap<string, { steady: number; wall: number }>(MAX_MARKS)
  /** Of a call that failed, which is repeated. */
  readonly #confirmed = new ConfirmedInserts()
  readonly periods: readonly UsagePeriod[]
  recorded = 0

  constructor(deps: UsageRecorderDeps) {
    this.#deps = deps
    this.periods = deps.periods
    this.#memory = new RecentMap(deps.remembered ?? 100_000)
  }

  async record(rows: readonly Uint8Array[], signal?: AbortSignal): Promise<void> {
    const fresh: UsageClaim[] = []
    for (const part of rows)
      for (const claim of USAGE_CLAIM_ROWS.readAll(part)) if (!this.#isSettled(claim)) fresh.push(claim)
    if (fresh.length === 0) return
    const { store, exclusive } = this.#deps
    const claimed = [encode(fresh)]
    const adding = this.#confirmed.once('claims', claimed, () => store.addClaims(claimed, signal))
    adding.catch(() => undefined) // awaited below, even if reading fails
    // If two processes have claims on one trace, the later reader must see both.
    if (!exclusive) await adding
    const traces = new Map<string, UsageClaim[]>()
    for (const claim of fresh) claimsOf(traces, claim).push(claim)
    for (const part of await this.#readBack(fresh))
      for (const claim of USAGE_CLAIM_ROWS.readAll(part)) claimsOf(traces, claim).push(claim)
    await adding
    await this.#count([...traces.values()], signal)
    for (const [key, claims] of traces) this.#remember(key, claims)
    this.#confirmed.clear()
    this.recorded++
  }

  #readBack(fresh: readonly UsageClaim[]): Promise<Uint8Array[]> {
    const ids = new Map<string, Set<string>>()
    for (const { workspace_id, trace_id } of fresh) {
      const known = ids.get(workspace_id)
      if (known) known.add(trace_id)
      else ids.set(workspace_id, new Set([trace_id]))
    }
    return Promise.all(
      [...ids].map(([workspace_id, trace_ids]) => this.#deps.store.claims(workspace_id, [...trace_ids])),
    )
  }

  async #count(traces: readonly UsageClaim[][], signal: AbortSignal | undefined): Promise<void> {
    const out = new RowWriter(traces.length * 128)
    const hours = new Map<string, UsageHour>()
    for (const claims of traces) {
      for (const row of countedTraces(claims)) {
        COUNTED_TRACE_ROWS.write(out, row)
        hours.set(`${row.workspace_id} ${row.hour}`, row)
      }
    }
    if (hours.size === 0) return
    const counted = [out.finish()]
    await this.#confirmed.once('counted', counted, () => this.#deps.store.addCounted(counted, signal))
    await this.#mark(hours, signal)
  }

  /** Writes marks. Called after the rows were written, so that a rollup without the rows counts as outdated. */
  async #mark(hours: ReadonlyMap<string, UsageHour>, signal: AbortSignal | undefined): Promise<void> {
    const now = { steady: performance.now(), wall: Date.now() }
    const due = [...hours].filter(([key]) => {
      const last = this.#marked.get(key)
      if (last === undefined) return true
      return Math.max(now.steady - last.steady, Math.abs(now.wall - last.wall)) > MARK_HOLDS_MS
    })
    if (due.length === 0) return
    await this.#deps.store.mark(
      due.map(([, hour]) => hour),
      signal,
    )
    for (const [key] of due) this.#marked.set(key, now)
  }

  /** Whether the recorded claims make this claim ineffective, whatever claims follow. */
  #isSettled(claim: UsageClaim): boolean {
    const known = this.#memory.get(keyOf(claim))
    if (!known) return false
    const stated = known[BASIS.stated]
    const same = known[claim.basis]
    if (same !== undefined && claim.rank <= same) return true
    return stated !== undefined && claim.basis <= BASIS.parent && claim.rank <= stated
  }

  #remember(key: string, claims: readonly UsageClaim[]): void {
    const best: (bigint | undefined)[] = this.#memory.get(key) ?? []
    for (const { basis, rank } of claims) {
      const known = best[basis]
      if (known === undefined || rank > known) best[basis] = rank
    }
    this.#memory.set(key, best)
  }
}

function encode(claims: readonly UsageClaim[]): Uint8Array {
  const out = new RowWriter(claims.length * 112)
  for (const claim of claims) USAGE_CLAIM_ROWS.write(out, claim)
  return out.finish()
}

function keyOf({ workspace_id, trace_id }: UsageClaim): string {
  return `${workspace_id}${trace_id}`
}

function claimsOf(traces: Map<string, UsageClaim[]>, claim: UsageClaim): UsageClaim[] {
  const key = keyOf(claim)
  const known = traces.get(key)
  if (known) return known
  const claims: UsageClaim[] = []
  traces.set(key, claims)
  return claims
}
