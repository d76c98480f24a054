import { NIL_UUID } from '../../base/ids.ts'
import { ChangeCollector, type RunChanges } from '../live/run-changes.ts'
import type { TraceRun } from '../../trace/derive/trace-run.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { toRow, tombstones, TRACE_RUN_ROWS } from '../../trace/rows/trace-run-row.ts'
import { type UsagePeriod, UsageClaims } from '../../usage/counting/claim.ts'
import { type WaitingChild, WAITING_CHILD_ROWS } from '../../trace/derive/lineage/waiting-child.ts'

/** Maximum number of changes that a batch lists; for further changes only the projects are listed. */
const MAX_CHANGES = 500

/** The rows that follow from a batch, as RowBinary. */
export interface Derived {
  kind: 'done'
  rows: Uint8Array<ArrayBuffer>
  count: number
  waiting: Uint8Array<ArrayBuffer>
  waiting_count: number
  /** Keys (keyOf) of the parents that TraceRuns wait for and that were not known to exist. */
  unknown_parents: string[]
  /** Roots under which spans were placed: key (keyOf) and number of known fragments. */
  roots: { key: string; fragments: number }[]
  /** Rows about TraceRuns that no longer wait for a parent. */
  resolved: Uint8Array<ArrayBuffer>
  resolved_count: number
  /** Copies of fragments that belong to another TraceRun, under the id of that TraceRun. */
  adopted: Uint8Array<ArrayBuffer>
  adopted_count: number
  /** Claims of the batch's operations that their traces count for usage. */
  claims: Uint8Array<ArrayBuffer>
  claims_count: number
  /** The TraceRuns of `rows`, for listeners of live changes. */
  changes: RunChanges
  /** Errors of TraceRuns that could not be derived, or were derived only from their heads. */
  failures: string[]
}

/** Collects the rows that follow from a batch. */
export class DerivedWriter {
  readonly rows = new RowWriter()
  readonly adopted = new RowWriter()
  readonly failures: string[] = []
  readonly unknown_parents = new Set<string>()
  adopted_count = 0
  readonly #waiting = new RowWriter()
  readonly #resolved = new RowWriter()
  readonly #claims = new UsageClaims()
  readonly #changes = new ChangeCollector(MAX_CHANGES)
  readonly #periods: readonly UsagePeriod[]
  #count = 0
  #waitingCount = 0
  #resolvedCount = 0

  /** `periods`: only operations received in these periods make claims that their traces count. */
  constructor(periods: readonly UsagePeriod[]) {
    this.#periods = periods
  }

  /** Adds the lean row, rows that delete earlier ones, and claims. */
  add(traceRun: TraceRun): void {
    const row = toRow(traceRun)
    const dead = tombstones(traceRun, row)
    for (const each of dead) TRACE_RUN_ROWS.write(this.rows, each)
    TRACE_RUN_ROWS.write(this.rows, row)
    this.#count += dead.length + 1
    const { workspace_id, project_id, trace_id, run_id, version, status } = row
    const is_root = row.parent_run_id === NIL_UUID
    this.#changes.add({ workspace_id, project_id, trace_id, run_id, version, is_root, status })
    this.#claims.add(traceRun.merged, traceRun, this.#periods)
  }

  note(child: WaitingChild): void {
    WAITING_CHILD_ROWS.write(child.resolved ? this.#resolved : this.#waiting, child)
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
      changes: this.#changes.take(),
      failures: this.failures,
    }
  }
}
