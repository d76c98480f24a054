import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../../src/base/ids.ts'
import type { ListQuery } from '../../../src/ingest/store/trace-store.ts'
import { formatDecimal, parseDecimal } from '../../../src/trace/price/decimal.ts'
import { carriesUsage } from '../../../src/trace/derive/derive.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { rollUp } from '../../../src/trace/derive/roll-up.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { propertySettings } from '../../support/properties.ts'
import {
  PROJECT,
  START,
  type TestTraceStore,
  WORKSPACE,
  idOf,
  startTestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { firstInShort, inLong } from '../../support/length.ts'

/**
 * Only `npm run test:long` compares many values, because the engine takes a sixth of a second for a statement on sums.
 */
const isLong = propertySettings().length > 1

let store: TestTraceStore

beforeAll(async () => {
  store = await startTestTraceStore()
})

afterAll(() => store?.stop())

/** A tree of TraceRuns: number, number of the parent, and the fields that differ from an empty chain. */
const TREE: [number, number, Partial<TraceRunRow>][] = [
  [11, 0, {}],
  [12, 11, { run_type: 'llm', input_tokens: 100, output_tokens: 20, total_cost: parseDecimal('0.5')! }],
  [13, 12, { run_type: 'llm', input_tokens: 100, output_tokens: 20, total_cost: parseDecimal('0.5')! }],
  [14, 11, { run_type: 'tool', total_cost: parseDecimal('0.25')! }],
  [15, 11, { run_type: 'embedding', input_tokens: 7 }],
  [16, 11, { run_type: 'retriever' }],
  [17, 16, { run_type: 'llm', output_tokens: 3, output_cost: 2n, total_cost: 2n }],
  [18, 0, {}],
  [19, 18, { run_type: 'llm' }],
  [20, 999, { run_type: 'llm', input_tokens: 1 }],
]

function treeRows(): TraceRunRow[] {
  const lines = new Map<number, string>([
    [0, ''],
    [999, `20261120T090000000000Z${idOf(999)}.`],
  ])
  return TREE.map(([n, parent, fields]) => {
    const dotted_order = `${lines.get(parent)!}20261120T090000000000Z${idOf(n)}`
    lines.set(n, `${dotted_order}.`)
    const parent_run_id = parent === 0 ? NIL_UUID : idOf(parent)
    const trace_id = dotted_order.slice(22, 58)
    return traceRunRow(n, { trace_id, parent_run_id, dotted_order, ...fields })
  })
}

describe('tokens and costs in a filter', () => {
  const rows = treeRows()
  const { of: totalsOf } = rollUp(rows)
  const read = (one: TraceRunRow) => {
    if (!carriesUsage(one.run_type)) return totalsOf(one.run_id)
    const { input_tokens, output_tokens, total_cost } = one
    return { prompt_tokens: input_tokens ?? 0, completion_tokens: output_tokens ?? 0, total_cost }
  }
  const holds = {
    eq: (a: number | bigint, b: number | bigint) => a === b,
    gt: (a: number | bigint, b: number | bigint) => a > b,
    gte: (a: number | bigint, b: number | bigint) => a >= b,
    lt: (a: number | bigint, b: number | bigint) => a < b,
    lte: (a: number | bigint, b: number | bigint) => a <= b,
  }
  const selected = (test: (one: TraceRunRow) => boolean) => rows.filter(test).map(({ run_id }) => run_id)

  beforeAll(() => store.insert(rows))

  it.each(firstInShort(Object.keys(holds) as (keyof typeof holds)[]))(
    '%s compares the value that a read of the TraceRun shows',
    async (is) => {
      for (const value of isLong ? [0, 1, 3, 23, 107, 110, 130, 500] : [3, 107, 130]) {
        const expected = selected((one) =>
          holds[is](read(one).prompt_tokens + read(one).completion_tokens, value),
        )
        expect(
          await store.idsOf(WORKSPACE, `${is}(total_tokens, ${value})`),
          `tokens ${is} ${value}`,
        ).toEqual(expected)
      }
      const costs = [2n, parseDecimal('0.5')!]
      if (isLong) costs.push(0n, parseDecimal('0.25')!, parseDecimal('0.75')! + 2n)
      for (const value of costs) {
        const expected = selected((one) => holds[is](read(one).total_cost ?? Number.NaN, value))
        const expression = `${is}(total_cost, ${formatDecimal(value)})`
        expect(await store.idsOf(WORKSPACE, expression), expression).toEqual(expected)
      }
    },
  )

  inLong(() => {
    it('finds TraceRuns without tokens or costs', async () => {
      const without = selected((one) => read(one).total_cost === null)
      expect(await store.idsOf(WORKSPACE, 'eq(total_cost, null)')).toEqual(without)
      expect(await store.idsOf(WORKSPACE, 'not(exists(total_tokens))')).toEqual([14, 18, 19].map(idOf))
      expect(await store.idsOf(WORKSPACE, 'in(completion_tokens, [0, 3])')).toEqual(
        selected((one) => [0, 3].includes(read(one).completion_tokens)),
      )
    })

    it('is the same within a project, a trace, a time and a type', async () => {
      const narrowed: Partial<ListQuery> = {
        project_ids: [PROJECT],
        trace_ids: [idOf(11)],
        start_time: START,
      }
      expect(await store.idsOf(WORKSPACE, 'gt(total_tokens, 100)', narrowed)).toEqual([11, 12, 13].map(idOf))
      expect(await store.idsOf(WORKSPACE, 'gt(total_tokens, 100)', { ...narrowed, run_type: 'llm' })).toEqual(
        [12, 13].map(idOf),
      )
      expect(await store.idsOf(WORKSPACE, 'and(eq(run_type, "llm"), gt(total_tokens, 100))')).toEqual(
        [12, 13].map(idOf),
      )
    })

    it('refuses more conditions on sums than the limit', async () => {
      const nine = `or(${Array.from({ length: 9 }, (_, n) => `eq(total_tokens, ${n})`).join(', ')})`
      await expect(async () => store.idsOf(WORKSPACE, nine)).rejects.toMatchObject({
        code: 'invalid_request',
      })
      expect(await store.idsOf(WORKSPACE, `and(eq(run_type, "llm"), ${nine})`)).toEqual(
        [17, 19, 20].map(idOf),
      )
    })
  })
})

describe('a filtered list', () => {
  const LIST_WORKSPACE = '0195f3a0-0000-7000-8000-0000000000ee'
  const numbers = Array.from({ length: 6000 }, (_, n) => n + 1)

  it('continues in order over many parts, and never uses an outdated version', async () => {
    // Five parts, each with TraceRuns of the whole range. Every seventh TraceRun is renamed later, and every eleventh
    // is deleted.
    const made = numbers.map((n) =>
      traceRunRow(n, { workspace_id: LIST_WORKSPACE, name: n % 2 === 0 ? 'even' : 'odd' }),
    )
    for (let part = 0; part < 5; part++) await store.insert(made.filter((_, i) => i % 5 === part))
    await store.insert(
      made.filter((_, i) => (i + 1) % 7 === 0).map((one) => ({ ...one, name: 'late', version: 2 })),
    )
    await store.insert(
      made.filter((_, i) => (i + 1) % 11 === 0).map((one) => ({ ...one, version: 3, is_deleted: 1 })),
    )
    const expected = numbers.filter((n) => n % 2 === 0 && n % 7 !== 0 && n % 11 !== 0).map(idOf)
    for (const order of ['asc', 'desc'] as const) {
      const found: string[] = []
      for (let after: ListQuery['after']; ; ) {
        const query: ListQuery = {
          filter: parseFilter('eq(name, "even")'),
          project_ids: [PROJECT],
          order,
          limit: 500,
        }
        const page = await store.list(LIST_WORKSPACE, { ...query, ...(after && { after }) })
        found.push(...page.map(({ run_id }) => run_id))
        after = page.at(-1)
        if (page.length < 500) break
      }
      expect(found).toEqual(order === 'asc' ? expected : expected.toReversed())
    }
  })
})
