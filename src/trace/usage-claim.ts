import { hash } from 'node:crypto'
import { NIL_UUID, parseUuid } from '../base/ids.ts'
import { text } from '../schema/json.ts'
import { parseDottedOrder } from './dotted-order.ts'
import { RANK } from './fragment.ts'
import type { Lineage } from './lineage.ts'
import type { FragmentFacts, MergedTraceRun } from './merge.ts'
import { namedTrace } from './named-trace.ts'
import { RowReader, type RowWriter } from './row-binary.ts'
import { parseTime } from './time.ts'

/** What a claim rests on. */
export const BASIS = {
  /** An operation names the trace, or belongs to a TraceRun that does, or to one whose parent's trace is named. */
  stated: 0,
  /** Nothing sent says that the TraceRun is not the root of a trace of its own. */
  itself: 1,
  /** The TraceRun stands under the id of a parent of which no trace is named. */
  parent: 2,
  /** Voids claims on `itself`: the TraceRun of this id turned out to be in another trace. */
  not_itself: 3,
  /** Voids claims on `parent`: the TraceRun of this id turned out to be in another trace. */
  not_parent: 4,
} as const

/**
 * What one operation says about the existence and the attribution of a trace (D-30). Claims are facts: none is ever
 * taken back, the best that is not voided counts (settleClaims). So the order in which they are made, and how often,
 * makes no difference.
 */
export interface UsageClaim {
  workspace_id: string
  trace_id: string
  basis: number
  /** Whole hours since 1970 of `start`. */
  hour: number
  /** The higher the better; equal for equal attributions only. Below 2^112. */
  rank: bigint
  /** When the trace started, epoch milliseconds. */
  start: number
  /** NIL_UUID for none, in all three. */
  project_id: string
  user_id: string
  api_key_id: string
}

/** Columns of table `usage_claims` in the order of the encoding. */
export const USAGE_CLAIM_COLUMNS = [
  'workspace_id',
  'trace_id',
  'basis',
  'hour',
  'rank',
  'start',
  'project_id',
  'user_id',
  'api_key_id',
] as const

/** When traces were, or are, to be counted: `[from, to)` in epoch milliseconds, by receive time. */
export interface UsagePeriod {
  from: number
  to: number
}

/**
 * The receive time of an operation that comes now: never before the open period began, if one is open, whatever this
 * process's clock says. Another process's clock, ahead of ours, may have begun it.
 */
export function receiveTime(now: number, periods: readonly UsagePeriod[]): number {
  const open = periods.find(({ to }) => to === Number.POSITIVE_INFINITY)
  return Math.max(now, open?.from ?? now)
}

/** Of two claims, the one by an operation that says more is better, then the one received first. */
const KIND = { under_parent: 0, unplaced: 1, child: 2, root: 3 } as const
const DAY = 86_400_000
const HOUR = 3_600_000
const RECEIVED_RANGE = 2 ** 43

/** A claim before its rank is complete: `weight` is the rank without the part that tells equal weights apart. */
interface Candidate extends Omit<UsageClaim, 'rank' | 'hour'> {
  weight: number
}

/** Collects the best claim per trace and basis. */
export class UsageClaims {
  readonly #best = new Map<string, Candidate>()

  /** Adds what the TraceRun's operations claim, of those that were received while usage was collected. */
  add(merged: MergedTraceRun, lineage: Lineage, periods: readonly UsagePeriod[]): void {
    if (periods.length === 0) return
    const named = new Set(merged.keys.flatMap((facts) => namedTrace(facts.head) ?? []))
    for (const facts of merged.keys) {
      const { received_at } = facts
      if (!periods.some(({ from, to }) => received_at >= from && received_at < to)) continue
      const own = namedTrace(facts.head)
      if (own !== undefined) this.#stated(merged, own, facts)
      else if (named.size > 0) for (const trace_id of named) this.#stated(merged, trace_id, facts)
      else if (lineage.placed_by === 'statement') this.#stated(merged, lineage.trace_id, facts)
      else if (lineage.trace_id === merged.id && lineage.placed_by === 'itself')
        this.#claim(merged, merged.id, BASIS.itself, creates(facts) ? KIND.root : KIND.unplaced, facts)
      else if (lineage.placed_by === 'itself' || lineage.trace_id === lineage.parent_run_id)
        this.#claim(merged, lineage.trace_id, BASIS.parent, KIND.under_parent, facts)
      // Else it stands under a parent that is known and stands under an unknown one: that one claims.
      if (own === undefined) this.#void(merged, lineage.trace_id, facts)
    }
  }

  /** Appends the claims as rows and returns how many. */
  write(out: RowWriter): number {
    for (const candidate of this.#best.values())
      writeUsageClaim(out, {
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
    const says = (project_id === NIL_UUID ? 0 : 8) + kind * 2 + (sent === undefined ? 0 : 1)
    const weight = says * RECEIVED_RANGE + (RECEIVED_RANGE - 1 - received_at)
    const { workspace_id } = merged
    this.#keep({ workspace_id, trace_id, basis, weight, start, project_id, user_id, api_key_id })
  }

  /** The operation by itself left a place open that is not the TraceRun's: what was claimed on it is void. */
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

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.weight !== b.weight) return a.weight > b.weight
  return attributionHash(a) > attributionHash(b)
}

function segmentsOf(dottedOrder: unknown) {
  const sent = text(dottedOrder)
  const parsed = sent === undefined ? undefined : parseDottedOrder(sent)
  return parsed?.ok ? parsed.segments : undefined
}

/** The start that an operation states, epoch milliseconds. */
function sentStart({ head }: FragmentFacts): number | undefined {
  const micros = parseTime(head?.['start_time']) ?? segmentsOf(head?.['dotted_order'])?.at(-1)?.time
  return micros === undefined ? undefined : Math.floor(micros / 1000)
}

function creates({ rank, head }: FragmentFacts): boolean {
  return rank === RANK.create || (typeof head?.['name'] === 'string' && head['start_time'] !== undefined)
}

/** Tells attributions of equal weight apart, the same everywhere. */
function attributionHash({ start, project_id, user_id, api_key_id }: Candidate): bigint {
  return BigInt(`0x${hash('sha1', `${start} ${project_id} ${user_id} ${api_key_id}`, 'hex').slice(0, 16)}`)
}

/** Appends one row of table `usage_claims`. */
export function writeUsageClaim(out: RowWriter, claim: UsageClaim): void {
  out.uuid(claim.workspace_id)
  out.uuid(claim.trace_id)
  out.u8(claim.basis)
  out.u32(claim.hour >>> 0)
  out.i128(claim.rank)
  out.i64(BigInt(claim.start))
  out.uuid(claim.project_id)
  out.uuid(claim.user_id)
  out.uuid(claim.api_key_id)
}

/** Every claim of `rows`. */
export function* readUsageClaims(rows: Uint8Array): Generator<UsageClaim> {
  const from = new RowReader(rows)
  while (!from.done)
    yield {
      workspace_id: from.uuid(),
      trace_id: from.uuid(),
      basis: from.u8(),
      hour: from.u32() | 0,
      rank: from.i128(),
      start: Number(from.i64()),
      project_id: from.uuid(),
      user_id: from.uuid(),
      api_key_id: from.uuid(),
    }
}
