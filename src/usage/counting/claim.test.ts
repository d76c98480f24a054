import { describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../base/ids.ts'
import { countedTraces, rankOfVersion } from './counted-trace.ts'
import {
  emptyFragment,
  type Fragment,
  RANK,
  readFragments,
  writeFragment,
} from '../../trace/rows/fragment.ts'
import { deriveLineage, type ParentOf } from '../../trace/derive/lineage/lineage.ts'
import { mergeFragments } from '../../trace/derive/merge.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import {
  BASIS,
  factsOfRank,
  USAGE_CLAIM_ROWS,
  receiveTime,
  type UsageClaim,
  UsageClaims,
  type UsagePeriod,
} from './claim.ts'

const WORKSPACE = '0195f3a0-0000-7000-8000-0000000000aa'
const [ROOT, CHILD, PARENT, PROJECT] = ['1', '2', '3', '4'].map(
  (n) => `0195f3a0-0000-7000-8000-00000000000${n}`,
) as [string, string, string, string]
const RECEIVED = Date.UTC(2026, 10, 20, 12)
const HOUR = 3_600_000
const ALWAYS: UsagePeriod[] = [{ from: 0, to: Number.POSITIVE_INFINITY }]

interface Sent extends Partial<Omit<Fragment, 'head'>> {
  head: object
}

function claimsOf(
  run_id: string,
  sent: readonly Sent[],
  parentOf: ParentOf = () => undefined,
  periods = ALWAYS,
) {
  const rows = new RowWriter()
  for (const { head, rank = RANK.create, ...fields } of sent)
    writeFragment(rows, {
      ...emptyFragment(WORKSPACE, run_id, rank, RECEIVED),
      ...fields,
      head: Buffer.from(JSON.stringify(head)),
    })
  const merged = mergeFragments([...readFragments(rows.finish())])
  const claims = new UsageClaims()
  claims.add(merged, deriveLineage(merged, RECEIVED * 1000, parentOf, []), periods)
  const out = new RowWriter()
  const count = claims.write(out)
  const read = [...USAGE_CLAIM_ROWS.readAll(out.finish())]
  expect(read).toHaveLength(count)
  return read
}

const winner = (claims: readonly UsageClaim[]) => countedTraces(claims).find((row) => row.is_deleted === 0)
const at = (hours: number): string => new Date(RECEIVED + hours * HOUR).toISOString()

describe('usage claims', () => {
  it('of a root carry its start, project, user and key', () => {
    const fields = { project_id: PROJECT, user_id: CHILD, api_key_id: PARENT }
    const [claim, ...more] = claimsOf(ROOT, [{ head: { trace_id: ROOT, start_time: at(-5) }, ...fields }])
    expect(more).toEqual([])
    expect(claim).toMatchObject({
      trace_id: ROOT,
      basis: BASIS.stated,
      start: RECEIVED - 5 * HOUR,
      ...fields,
    })
    expect(claim!.hour).toBe(RECEIVED / HOUR - 5)
    const [counted] = countedTraces([claim!])
    expect(factsOfRank(rankOfVersion(counted!.version))).toEqual({
      kind: 'root',
      has_start: true,
      received_at: RECEIVED,
    })
  })

  it('of a child without a start, whose root was not received, have a rank that says so', () => {
    const [claim] = claimsOf(CHILD, [{ head: { trace_id: ROOT }, project_id: PROJECT }])
    expect(factsOfRank(claim!.rank)).toEqual({ kind: 'child', has_start: false, received_at: RECEIVED })
  })

  it.each([
    ['is taken as sent, up to a day in the future', at(24), RECEIVED + 24 * HOUR],
    ['further in the future is the time of receipt', at(24.001), RECEIVED],
    ['may be before 1970', '1960-01-01T00:30:00Z', Date.UTC(1960, 0, 1, 0, 30)],
    ['that is missing is the time of receipt', undefined, RECEIVED],
  ])('a start that %s', (_, start_time, want) => {
    const [claim] = claimsOf(ROOT, [{ head: { trace_id: ROOT, start_time } }])
    expect(claim).toMatchObject({ start: want, hour: Math.floor(want / HOUR) })
  })

  it('use the start in dotted_order if there is no other', () => {
    const dotted_order = `20261120T090000000000Z${ROOT}`
    const [claim] = claimsOf(ROOT, [{ head: { dotted_order }, rank: RANK.update_with_end }])
    expect(claim).toMatchObject({ trace_id: ROOT, start: Date.UTC(2026, 10, 20, 9), basis: BASIS.stated })
  })

  it('prefer the first received of those that name a project, then the root, then a start', () => {
    const child = claimsOf(CHILD, [
      {
        head: { trace_id: ROOT, parent_run_id: ROOT, start_time: at(-3) },
        project_id: PROJECT,
        received_at: RECEIVED - 9,
      },
    ])
    const update = claimsOf(ROOT, [{ head: { trace_id: ROOT, start_time: at(-2) }, rank: RANK.update }])
    const root = claimsOf(ROOT, [
      { head: { trace_id: ROOT, start_time: at(-1) }, project_id: PROJECT, received_at: RECEIVED + 5 },
      { head: { trace_id: ROOT, start_time: at(-4) }, project_id: PROJECT, received_at: RECEIVED + 6 },
    ])
    expect(winner(update)).toMatchObject({ project_id: NIL_UUID, start: RECEIVED - 2 * HOUR })
    expect(winner([...update, ...child])).toMatchObject({ start: RECEIVED - 3 * HOUR })
    expect(winner([...root, ...update, ...child])).toMatchObject({ start: RECEIVED - HOUR })
  })

  it('of a child whose parent is unknown are void when the child turns out to be elsewhere', () => {
    const sent = [{ head: { parent_run_id: PARENT, name: 'child', start_time: at(0) } }]
    const before = claimsOf(CHILD, sent)
    expect(winner(before)).toMatchObject({ trace_id: PARENT })
    const place = {
      trace_id: ROOT,
      dotted_order: `20261120T090000000000Z${ROOT}`,
      placed_by: 'statement',
    } as const
    const after = claimsOf(CHILD, sent, (id) => (id === PARENT ? place : undefined))
    const on = (trace_id: string) => [...before, ...after].filter((claim) => claim.trace_id === trace_id)
    expect(winner(on(PARENT))).toBeUndefined()
    expect(countedTraces(on(PARENT))).toMatchObject([{ is_deleted: 1 }])
    expect(winner(on(ROOT))).toMatchObject({ trace_id: ROOT })
  })

  it('of a bare update are void when its TraceRun turns out to be a child', () => {
    const update = { head: { end_time: at(1) }, rank: RANK.update_with_end }
    const before = claimsOf(CHILD, [update])
    expect(winner(before)).toMatchObject({ trace_id: CHILD })
    const create = { head: { trace_id: ROOT, parent_run_id: ROOT, name: 'child', start_time: at(0) } }
    const after = claimsOf(CHILD, [create, update])
    expect(winner([...before, ...after].filter(({ trace_id }) => trace_id === CHILD))).toBeUndefined()
  })

  it('with a stated trace are not voided', () => {
    const stated = claimsOf(CHILD, [{ head: { trace_id: PARENT, start_time: at(0) } }])
    const voids: UsageClaim[] = [BASIS.not_itself, BASIS.not_parent].map((basis) => ({
      ...stated[0]!,
      basis,
    }))
    expect(winner([...stated, ...voids])).toMatchObject({ trace_id: PARENT })
  })

  it('are made for everything received in an open period, also by a clock behind its start', () => {
    const past = { from: 10, to: 20 }
    expect([receiveTime(5, []), receiveTime(5, [past])]).toEqual([5, 5])
    const open = [past, { from: 30, to: Number.POSITIVE_INFINITY }]
    expect([receiveTime(5, open), receiveTime(30, open), receiveTime(31, open)]).toEqual([30, 30, 31])
  })

  it('are made only for data received while counting was on', () => {
    const early = { head: { trace_id: ROOT, start_time: at(-1) }, received_at: RECEIVED - 1 }
    const late = {
      head: { trace_id: ROOT, end_time: at(0) },
      rank: RANK.update_with_end,
      received_at: RECEIVED + 1,
    }
    const periods = [{ from: RECEIVED, to: RECEIVED + 1 }]
    expect(claimsOf(ROOT, [early, late], undefined, periods)).toEqual([])
    expect(claimsOf(ROOT, [early, late], undefined, [{ from: RECEIVED, to: RECEIVED + 2 }])).toMatchObject([
      { start: RECEIVED + 1 },
    ])
    expect(claimsOf(ROOT, [early], undefined, [])).toEqual([])
  })
})
