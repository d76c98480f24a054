import type { TraceRun } from '../trace/derive.ts'
import { RowWriter } from '../trace/row-binary.ts'
import { toRow, tombstones, writeTraceRunRow } from '../trace/trace-run-row.ts'
import { type UsagePeriod, UsageClaims } from '../trace/usage-claim.ts'
import { type WaitingChild, writeWaitingChild } from '../trace/waiting-child.ts'

/** What follows from a batch, as RowBinary. */
export interface Derived {
  kind: 'done'
  rows: Uint8Array<ArrayBuffer>
  count: number
  waiting: Uint8Array<ArrayBuffer>
  waiting_count: number
  /** Keys (keyOf) of the parents that are waited for and were not known to have been created. */
  unknown_parents: string[]
  /** Roots under which spans were placed: their keys (keyOf), and how many fragments were known under each. */
  roots: { key: string; fragments: number }[]
  /** Notes that children wait no longer. */
  resolved: Uint8Array<ArrayBuffer>
  resolved_count: number
  /** Fragments that turned out to belong to another TraceRun, filed under that. */
  adopted: Uint8Array<ArrayBuffer>
  adopted_count: number
  /** What its operations say about which traces count. */
  claims: Uint8Array<ArrayBuffer>
  claims_count: number
  /** What went wrong with TraceRuns that could not be derived, or only from their heads. */
  failures: string[]
}

/** Gathers what follows from a batch. */
export class DerivedWriter {
  readonly rows = new RowWriter()
  readonly adopted = new RowWriter()
  readonly failures: string[] = []
  readonly unknown_parents = new Set<string>()
  adopted_count = 0
  readonly #waiting = new RowWriter()
  readonly #resolved = new RowWriter()
  readonly #claims = new UsageClaims()
  readonly #periods: readonly UsagePeriod[]
  #count = 0
  #waitingCount = 0
  #resolvedCount = 0

  /** Operations received in `periods` claim that their traces count. */
  constructor(periods: readonly UsagePeriod[]) {
    this.#periods = periods
  }

  /** Adds the lean row, and those that delete earlier ones, and what is claimed. */
  add(traceRun: TraceRun): void {
    const row = toRow(traceRun)
    const dead = tombstones(traceRun, row)
    for (const each of dead) writeTraceRunRow(this.rows, each)
    writeTraceRunRow(this.rows, row)
    this.#count += dead.length + 1
    this.#claims.add(traceRun.merged, traceRun, this.#periods)
  }

  note(child: WaitingChild): void {
    writeWaitingChild(child.resolved ? this.#resolved : this.#waiting, child)
    if (child.resolved) this.#resolvedCount++
    else this.#waitingCount++
  }

  finish(roots: Derived['roots']): Derived {
    const claims = new RowWriter()
    const claims_count = this.#claims.write(claims)
    return {
      kind: 'done',
      rows: this.rows.finish(),
      count: this.#count,
      waiting: this.#waiting.finish(),
      waiting_count: this.#waitingCount,
      unknown_parents: [...this.unknown_parents],
      roots,
      resolved: this.#resolved.finish(),
      resolved_count: this.#resolvedCount,
      adopted: this.adopted.finish(),
      adopted_count: this.adopted_count,
      claims: claims.finish(),
      claims_count,
      failures: this.failures,
    }
  }
}
