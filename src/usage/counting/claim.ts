import { hash } from 'node:crypto'
import { NIL_UUID, parseUuid } from '../../base/ids.ts'
import { text } from '../../schema/json.ts'
import { parseDottedOrder } from '../../trace/derive/lineage/dotted-order.ts'
import { RANK } from '../../trace/rows/fragment.ts'
import type { Lineage } from '../../trace/derive/lineage/lineage.ts'
import type { FragmentFacts, MergedTraceRun } from '../../trace/derive/merged-trace-run.ts'
import { namedTrace } from '../../trace/decode/named-trace.ts'
import type { RowWriter } from '../../trace/rows/row-binary.ts'
import { i128, i32, rowFormat, ticks, u8, uuid } from '../../trace/rows/row-format.ts'
import { parseTime } from '../../trace/derive/time.ts'

/** The evidence on which a claim is based. */
export const BASIS = {
  /** The operation, its TraceRun or the parent of that TraceRun names the trace. */
  stated: 0,
  /** According to all received data, the TraceRun is the root of its own trace. */
  itself: 1,
  /** The TraceRun is placed under the id of a parent whose trace no operation names. */
  parent: 2,
  /** Voids claims on `itself`: the TraceRun of this id turned out to be in another trace. */
  not_itself: 3,
  /** Voids claims on `parent`: the TraceRun of this id turned out to be in another trace. */
  not_parent: 4,
} as const

/**
 * The statement of one operation about the existence and the attribution of a trace (D-30). Claims are never withdrawn;
 * the best claim that is not voided counts (countedTraces). So the order and number of claims have no effect.
 */
export interface UsageClaim {
  workspace_id: string
  trace_id: string
  basis: number
  /** Whole hours since 1970 of `start`. */
  hour: number
  /** The claim with the highest rank counts; ranks are equal only for equal attributions. Below 2^112. */
  rank: bigint
  /** When the trace started, epoch milliseconds. */
  start: number
  /** Each of these three is NIL_UUID if there is none. */
  project_id: string
  user_id: string
  api_key_id: string
}

/** Rows of table `usage_claims`. */
export const USAGE_CLAIM_ROWS = rowFormat<UsageClaim>({
  workspace_id: uuid,
  trace_id: uuid,
  basis: u8,
  hour: i32,
  rank: i128,
  start: ticks,
  project_id: uuid,
  user_id: uuid,
  api_key_id: uuid,
})

/** When traces are counted: `[from, to)` in epoch milliseconds, by receive time. */
export interface UsagePeriod {
  from: number
  to: number
}

/**
 * The receive time of an operation that arrives now. If a period is open, the time is not before the beginning of the
 * period: a process whose clock is ahead may have set that beginning.
 */
export function receiveTime(now: number, periods: readonly UsagePeriod[]): number {
  const open = periods.find(({ to }) => to === Number.POSITIVE_INFINITY)
  return Math.max(now, open?.from ?? now)
}

/**
 * Ranks by the information in an operation: more is better. Of claims with equal information, the one received first is
 * better.
 */
const KIND = { under_parent: 0, unplaced: 1, child: 2, root: 3 } as const
const DAY = 86_400_000
const HOUR = 3_600_000
const RECEIVED_RANGE = 2 ** 43

/** A claim before its rank is complete: `weight` is the rank without the part that distinguishes equal weights. */
interface Candidate extends Omit<UsageClaim, 'rank' | 'hour'> {
  weight: number
}

/** Collects the best claim per trace and basis. */
export class UsageClaims {
  readonly #best = new Map<string, Candidate>()

  /** Adds the claims of the TraceRun's operations that were received while usage was counted. */
  add(merged: MergedTraceRun, lineage: Lineage, periods: readonly UsagePeriod[]): void {
    if (periods.length === 0) return
    const named = new Set(merged.keys.flatMap((facts) => namedTrace(facts.head) ?? []))
    for (const facts of merged.keys) {
      const { received_at, rank } = facts
      if (rank === RANK.filtered || !periods.some(({ from, to }) => received_at >= from && received_at < to))
        continue
      const own = namedTrace(facts.head)
      if (own !== undefined) this.#stated(merged, own, facts)
      else if (named.size > 0) for (const trace_id of named) this.#stated(merged, trace_id, facts)
      else if (lineage.placed_by === 'statement') this.#stated(merged, lineage.trace_id, facts)
      else if (lineage.trace_id === merged.id && lineage.placed_by === 'itself')
        this.#claim(merged, merged.id, BASIS.itself, creates(facts) ? KIND.root : KIND.unplaced, facts)
      else if (lineage.placed_by === 'itself' || lineage.trace_id === lineage.parent_run_id)
        this.#claim(merged, lineage.trace_id, BASIS.parent, KIND.under_parent, facts)
      // Otherwise the TraceRun is below a known parent that is below an unknown one, and the operations of the known
      // parent make the claim.
      if (own === undefined) this.#void(merged, lineage.trace_id, facts)
    }
  }

  /** Appends the claims as rows and returns how many. */
  write(out: RowWriter): number {
    for (const candidate of this.#best.values())
      USAGE_CLAIM_ROWS.write(out, {
        ...candidate,
        hour: Math.floor(candidate.start / HOUR),
        rank: (BigInt(candidate.weight) << 64n) | attributionHash(candidate),
      })
    return this.#best.size
  }

  #stated(merged: MergedTraceRun, trace_id: string, facts: FragmentFacts): void {
    this.#claim(merged, trace_id, BASIS.stated, trace_id === merged.id ? KIND.root : KIND.child, facts)
  }

  #claim(merged: MergedTraceRun, trace_id: string, basis: number, kind: number, facts: FragmentFacts): void {
    const { received_at, project_id, user_id, api_key_id } = facts
    const sent = sentStart(facts)
    const start = sent === undefined || sent > received_at + DAY ? received_at : sent
    const packed = (project_id === NIL_UUID ? 0 : 8) + kind * 2 + (sent === undefined ? 0 : 1)
    const weight = packed * RECEIVED_RANGE + (RECEIVED_RANGE - 1 - received_at)
    const { workspace_id } = merged
    this.#keep({ workspace_id, trace_id, basis, weight, start, project_id, user_id, api_key_id })
  }

  /**
   * An operation that did not contain its whole place may have made claims for an assumed place. Voids these claims
   * if the actual place differs.
   */
  #void(merged: MergedTraceRun, trace_id: string, facts: FragmentFacts): void {
    const parent = parseUuid(facts.head?.['parent_run_id'])
    const wrong = parent ?? merged.id
    if (wrong === trace_id) return
    this.#keep({
      workspace_id: merged.workspace_id,
      trace_id: wrong,
      basis: parent === undefined ? BASIS.not_itself : BASIS.not_parent,
      weight: 0,
      start: 0,
      project_id: NIL_UUID,
      user_id: NIL_UUID,
      api_key_id: NIL_UUID,
    })
  }

  #keep(candidate: Candidate): void {
    const key = `${candidate.workspace_id}${candidate.trace_id}${candidate.basis}`
    const known = this.#best.get(key)
    if (known && !isBetter(candidate, known)) return
    this.#best.set(key, candidate)
  }
}

/** The facts about an operation that the rank of its claim encodes. */
export interface ClaimFacts {
  /** The information of the operation about the trace, see KIND. */
  kind: keyof typeof KIND
  /** Whether the operation named a start, even one that is too far in the future to count. */
  has_start: boolean
  /** Epoch milliseconds. */
  received_at: number
}

/** The facts in a rank that UsageClaims wrote. */
export function factsOfRank(rank: bigint): ClaimFacts {
  const weight = Number(rank >> 64n)
  const packed = Math.floor(weight / RECEIVED_RANGE)
  const names = Object.keys(KIND) as (keyof typeof KIND)[]
  return {
    kind: names[(packed >> 1) & 3] ?? 'unplaced',
    has_start: (packed & 1) === 1,
    received_at: RECEIVED_RANGE - 1 - (weight % RECEIVED_RANGE),
  }
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.weight !== b.weight) return a.weight > b.weight
  return attributionHash(a) > attributionHash(b)
}

function segmentsOf(dottedOrder: unknown) {
  const sent = text(dottedOrder)
  const parsed = sent === undefined ? undefined : parseDottedOrder(sent)
  return parsed?.ok ? parsed.segments : undefined
}

/** The start in an operation, epoch milliseconds. */
function sentStart({ head }: FragmentFacts): number | undefined {
  const micros = parseTime(head?.['start_time']) ?? segmentsOf(head?.['dotted_order'])?.at(-1)?.time
  return micros === undefined ? undefined : Math.floor(micros / 1000)
}

function creates({ rank, head }: FragmentFacts): boolean {
  return rank === RANK.create || (typeof head?.['name'] === 'string' && head['start_time'] !== undefined)
}

/** A number that orders claims of equal weight. Every process computes the same number for equal attributions. */
function attributionHash({ start, project_id, user_id, api_key_id }: Candidate): bigint {
  return BigInt(`0x${hash('sha1', `${start} ${project_id} ${user_id} ${api_key_id}`, 'hex').slice(0, 16)}`)
}
