import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../../src/base/ids.ts'
import { createUsageRecorder } from '../../../src/usage/counting/recorder.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { BASIS, type UsageClaim, USAGE_CLAIM_ROWS } from '../../../src/usage/counting/claim.ts'
import { bucketOf, bucketOrigin, chooseStride } from '../../../src/usage/report/stride.ts'
import { reportUsage } from '../../../src/usage/report/granular-usage.ts'
import { listUsageTraces } from '../../../src/usage/report/traces.ts'
import type { UsageTraces } from '../../../src/schema/types.gen.ts'
import {
  GROUPINGS,
  type Grouping,
  type UsageCount,
  type UsageQuery,
} from '../../../src/usage/report/source.ts'
import { startTestUsageTables, type TestUsageTables } from '../../support/usage/tables.ts'
import { firstInShort, inLong, someInShort } from '../../support/length.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const T0 = Date.UTC(2026, 2, 1)

let usage: TestUsageTables
beforeAll(async () => {
  usage = await startTestUsageTables()
})
afterAll(() => usage?.stop())

const recorder = (exclusive = false) => createUsageRecorder({ store: usage.store, exclusive, periods: [] })

interface Fields extends Partial<UsageClaim> {
  start: number
}

function claim(workspace_id: string, trace_id: string, { start, ...fields }: Fields): UsageClaim {
  return {
    workspace_id,
    trace_id,
    basis: BASIS.stated,
    hour: Math.floor(start / HOUR),
    rank: 1n << 64n,
    start,
    project_id: NIL_UUID,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    ...fields,
  }
}

function rows(...claims: UsageClaim[]): Uint8Array[] {
  const out = new RowWriter()
  for (const each of claims) USAGE_CLAIM_ROWS.write(out, each)
  return [out.finish()]
}

function queryOf(workspace_ids: string[], start: number, end: number, group_by: Grouping): UsageQuery {
  const stride = chooseStride(start, end)
  return { workspace_ids, start, end, stride, origin: bucketOrigin(start, stride), group_by }
}

/** The expected counts: each trace counts at its last claim. */
function bruteForce(traces: readonly UsageClaim[], query: UsageQuery): UsageCount[] {
  const counts = new Map<string, UsageCount>()
  for (const trace of traces) {
    const { workspace_id, start } = trace
    if (start < query.start || start >= query.end || !query.workspace_ids.includes(workspace_id)) continue
    const bucket = bucketOf(start, query.origin, query.stride)
    const keeps = query.group_by === 'workspace' || query.group_by === 'project'
    const dimension_id = trace[`${query.group_by}_id`]
    const key = `${bucket} ${keeps ? workspace_id : ''} ${dimension_id}`
    const known = counts.get(key)
    if (known) known.traces++
    else counts.set(key, { bucket, workspace_id: keeps ? workspace_id : NIL_UUID, dimension_id, traces: 1 })
  }
  return inOrder([...counts.values()])
}

function inOrder(counts: UsageCount[]): UsageCount[] {
  const key = ({ bucket, workspace_id, dimension_id }: UsageCount) =>
    [bucket, workspace_id, dimension_id].join(' ')
  return counts.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Makes marks and rollups this many hours older. One hour after its last mark, an hour counts as unchanged. */
async function age(hours = 1): Promise<void> {
  for (const [table, time] of [
    ['usage_marks', 'marked_at'],
    ['usage_rollups', 'as_of'],
  ]) {
    await usage.db.command(
      `CREATE TABLE aged ENGINE = Memory
       AS SELECT * REPLACE(${time} - ${hours * 3600} AS ${time}) FROM ${table} FINAL`,
    )
    await usage.db.command(`DELETE FROM ${table} WHERE 1`)
    await usage.db.command(`INSERT INTO ${table} SELECT * FROM aged`)
    await usage.db.command('DROP TABLE aged SYNC')
  }
}

async function rowsOf(table: string): Promise<number> {
  const [row] = await usage.db.rows<{ n: number }>(`SELECT count() AS n FROM ${table} FINAL`)
  return row!.n
}

const NAMES = {
  workspaces: new Map<string, string>(),
  projects: new Map<string, string>(),
  emails: new Map<string, string>(),
  short_keys: new Map<string, string>(),
}

type Dimensions = Partial<Record<string, string>> & { user_id?: string | null }

/** Selects the last item of a list and up to two others, which differ with `turn`. */
const pickSome = <T>(from: readonly T[], turn: number): T[] =>
  from.filter((_, i) => i === from.length - 1 || (i + turn) % Math.ceil(from.length / 2) === 0)

const NONE_EXCLUDED = { project_id: [], user_id: [], api_key: [] }

const pick = <T>(from: readonly T[], n: number): T => from[n % from.length]!

const workspaces = [randomUUID(), randomUUID(), randomUUID()]

describe('usage tables', () => {
  const [projects, users, keys] = [7, 4, 5].map((n) => Array.from({ length: n }, () => randomUUID()))
  const traces: UsageClaim[] = []
  const ranges: [string, number, number][] = [
    ['hours', T0 + 3 * DAY + 17 * 60_000, T0 + 4 * DAY - 1],
    ['part of an hour', T0 + 3 * DAY + 17 * 60_000, T0 + 3 * DAY + 40 * 60_000],
    ['one whole hour', T0 + 3 * DAY, T0 + 3 * DAY + HOUR],
    ['days', T0 + 11 * HOUR + 1, T0 + 6 * DAY + 5 * HOUR + 123_456],
    ['whole days', T0, T0 + 31 * DAY],
    ['weeks', T0 - DAY, T0 + 60 * DAY + 1],
    ['months', T0 - 100 * DAY, T0 + 100 * DAY],
    ['years', Date.UTC(1969, 5, 5, 5, 5), Date.UTC(2030, 1, 1)],
  ]

  let turn = 0

  /** Compares the counts of every range with the expected ones; each call uses the next groupings. */
  async function expectExact(): Promise<void> {
    turn++
    for (const [i, [name, start, end]] of someInShort(ranges, 4).entries()) {
      for (const group_by of GROUPINGS.filter((_, j) => (i + j + turn) % GROUPINGS.length === 0)) {
        const query = queryOf(workspaces.slice(0, 2), start, end, group_by)
        expect(inOrder(await usage.source.count(query)), `${name} by ${group_by}`).toEqual(
          bruteForce(traces, query),
        )
      }
    }
  }

  /** Compares the lists of traces behind some groups of a report with the expected lists. */
  async function expectListed(): Promise<void> {
    const [, start, end] = pick(ranges, turn)
    for (const group_by of someInShort(GROUPINGS, 4)) {
      // Here several workspaces have projects with the same ids, and a report does not name the workspace of a project.
      const workspace_ids = workspaces.slice(0, group_by === 'project' ? 1 : 2)
      const request = { workspace_ids, start, end, group_by }
      const report = await reportUsage(usage.source, request, async () => NAMES)
      for (const { time_bucket, dimensions, traces: counted } of pickSome(report.usage, turn)) {
        const {
          workspace_id,
          project_id,
          user_id,
          api_key_short_key: api_key,
        } = Object.fromEntries(Object.entries(dimensions)) as Dimensions
        const group = {
          ...request,
          ...(workspace_id !== undefined && { workspace_ids: [workspace_id] }),
          bucket: Date.parse(time_bucket),
          project_id,
          user_id: user_id === null ? NIL_UUID : user_id,
          api_key,
          trace_id: undefined,
          excluded: NONE_EXCLUDED,
        }
        const listed = await allPages(group)
        const told = `${group_by} ${JSON.stringify(dimensions)} in ${time_bucket}`
        expect(listed, told).toHaveLength(counted)
        expect(new Set(listed.map((one) => `${one.workspace_id} ${one.trace_id}`)).size).toBe(counted)
        const [first] = listed
        if (first !== undefined)
          expect(await allPages({ ...group, trace_id: first.trace_id }), told).toContainEqual(first)
        expect(listed.map(({ counted_at }) => counted_at)).toEqual(
          listed.map(({ counted_at }) => counted_at).toSorted((a, b) => Date.parse(b) - Date.parse(a)),
        )
      }
    }
  }

  /** Compares the list of traces behind all unnamed groups of a bucket with the expected list. */
  async function expectOthersListed(): Promise<void> {
    const [, start, end] = pick(ranges, turn)
    for (const group_by of firstInShort(['project', 'user', 'api_key'] as const)) {
      const request = { workspace_ids: workspaces.slice(0, 2), start, end, group_by }
      const { usage: lines } = await reportUsage(usage.source, request, async () => NAMES)
      const idOf = (dimensions: object): string => Object.values(dimensions)[0] ?? NIL_UUID
      const shown = new Set(pickSome(lines, turn).map(({ dimensions }) => idOf(dimensions)))
      for (const time_bucket of pickSome([...new Set(lines.map((line) => line.time_bucket))], turn)) {
        const others = lines.filter(
          (line) => line.time_bucket === time_bucket && !shown.has(idOf(line.dimensions)),
        )
        const name = group_by === 'api_key' ? 'api_key' : (`${group_by}_id` as const)
        const listed = await allPages({
          ...request,
          bucket: Date.parse(time_bucket),
          trace_id: undefined,
          project_id: undefined,
          user_id: undefined,
          api_key: undefined,
          excluded: { ...NONE_EXCLUDED, [name]: [...shown] },
        })
        const counted = others.reduce((sum, { traces: number }) => sum + number, 0)
        expect(listed, `all but ${shown.size} by ${group_by} in ${time_bucket}`).toHaveLength(counted)
        expect(new Set(listed.map((one) => `${one.workspace_id} ${one.trace_id}`)).size).toBe(counted)
      }
    }
  }

  async function allPages(group: Omit<Parameters<typeof listUsageTraces>[1], 'cursor' | 'limit'>) {
    const listed: UsageTraces['items'] = []
    let cursor: string | undefined
    do {
      const request = { ...group, cursor, limit: 137 }
      const page = await listUsageTraces(usage.traces, request, async () => NAMES)
      listed.push(...page.items)
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    return listed
  }

  it('USAGE-17: counts live, from rollups, and from both, and lists the counted traces', async () => {
    for (let i = 0; i < 3000; i++) {
      const start = i % 200 === 0 ? -1234 * i : T0 + ((i * 7919 * 60_000) % (8 * DAY)) + (i % 1000)
      traces.push(
        claim(pick(workspaces, i), randomUUID(), {
          start,
          project_id: pick(projects!, i * 3),
          user_id: i % 9 === 0 ? NIL_UUID : pick(users!, i * 5),
          api_key_id: pick(keys!, i),
        }),
      )
    }
    const own = recorder()
    for (let i = 0; i < traces.length; i += 500) await own.record(rows(...traces.slice(i, i + 500)))
    await expectExact()
    // No hour counts as unchanged yet, however long the test has taken.
    await age(-1)
    expect(await usage.rollups.refresh('hour')).toMatchObject({ done: 0 })
    await age(2)
    const { done, left } = await usage.rollups.refresh('hour')
    expect(left).toBe(0)
    expect(done).toBe(await rowsOf('usage_rollups'))
    await expectExact()
    expect(await usage.rollups.refresh('day')).toMatchObject({ left: 0 })
    expect(await usage.rollups.refresh('day')).toEqual({ done: 0, left: 0 })
    await expectExact()
    await expectListed()
    await expectOthersListed()
  })

  inLong(() => {
    it('counts late traces, and moves traces that turn out to be elsewhere', async () => {
      const moved = traces.filter((_, i) => i % 3 === 0)
      for (const trace of moved) {
        const start = trace.start + (trace.start % 7 === 0 ? 3 * DAY : 5 * HOUR + 1)
        Object.assign(trace, {
          start,
          hour: Math.floor(start / HOUR),
          rank: 2n << 64n,
          project_id: pick(projects!, start),
        })
      }
      const late = Array.from({ length: 200 }, (_, i) =>
        claim(workspaces[0]!, randomUUID(), {
          start: T0 + i * 3 * HOUR,
          api_key_id: keys![0]!,
          project_id: projects![0]!,
        }),
      )
      traces.push(...late)
      const own = recorder()
      await own.record(rows(...moved, ...late))
      await expectExact()
      await expectListed()
      await expectOthersListed()
      // An older claim changes nothing, whatever its hour is.
      const older = moved
        .slice(0, 50)
        .map((trace) => ({ ...trace, rank: 1n << 64n, hour: trace.hour - 3, start: trace.start - 3 * HOUR }))
      await recorder().record(rows(...older))
      await expectExact()
      await age()
      await usage.rollups.refresh('hour')
      await usage.rollups.refresh('day')
      await expectExact()
      await usage.rollups.rebuild()
      await expectExact()
    })

    it('does not query the store for cached results', async () => {
      let asked = 0
      const store = {
        ...usage.store,
        claims: (...args: [string, readonly string[]]) => (asked++, usage.store.claims(...args)),
      }
      const own = createUsageRecorder({ store, exclusive: false, periods: [] })
      const known = claim(workspaces[2]!, randomUUID(), { start: T0, rank: 5n << 64n })
      await own.record(rows(known))
      await own.record(rows(known))
      await own.record(rows({ ...known, rank: 4n << 64n, hour: known.hour + 1 }))
      expect(asked).toBe(1)
      await own.record(rows({ ...known, rank: 6n << 64n }))
      expect(asked).toBe(2)
    })
  })
})

describe('usage tables of a few traces', () => {
  // The more hours have traces, the longer a refresh takes.
  beforeAll(async () => {
    await usage.stop()
    usage = await startTestUsageTables()
  })

  it('uncounts a trace that turns out to be none, and leaves no hour incomplete', async () => {
    const [trace, own] = [randomUUID(), recorder()]
    const start = T0 + 50 * DAY
    const query = queryOf([workspaces[2]!], start - DAY, start + DAY, 'workspace')
    const count = async () => (await usage.source.count(query)).reduce((sum, { traces: n }) => sum + n, 0)
    await own.record(rows(claim(workspaces[2]!, trace, { start, basis: BASIS.parent })))
    expect(await count()).toBe(1)
    await own.record(rows(claim(workspaces[2]!, trace, { start: 0, rank: 0n, basis: BASIS.not_parent })))
    expect(await count()).toBe(0)
    await age()
    await usage.rollups.refresh('hour')
    expect(await usage.rollups.refresh('hour')).toEqual({ done: 0, left: 0 })
    expect(await count()).toBe(0)
  })

  inLong(() => {
    it('counts traces that arrive after the clock of the store has gone back', async () => {
      const own = recorder()
      const start = T0 + 70 * DAY
      const query = queryOf([workspaces[2]!], start - DAY, start + DAY, 'workspace')
      const count = async () => (await usage.source.count(query)).reduce((sum, { traces: n }) => sum + n, 0)
      await own.record(rows(claim(workspaces[2]!, randomUUID(), { start })))
      await age()
      await usage.rollups.refresh('hour')
      await usage.rollups.refresh('day')
      expect(await count()).toBe(1)
      // Everything before this was written with a clock that was two hours ahead.
      await age(-2)
      await recorder().record(rows(claim(workspaces[2]!, randomUUID(), { start })))
      expect(await count()).toBe(2)
      await usage.rollups.refresh('hour')
      expect(await count()).toBe(2)
      await age(3)
      await usage.rollups.refresh('hour')
      await usage.rollups.refresh('day')
      expect(await count()).toBe(2)
    })
  })
})
