import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { emptyFragment, RANK, writeFragment } from '../../trace/rows/fragment.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { createLaneRoutes, fragmentsOfPart, type LaneRoutes, payloadsOf } from './lane-routes.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const idOf = (n: number): string => `01a1f83d-55e5-7000-8000-${n.toString(16).padStart(12, '0')}`

interface Sent {
  run: number
  head?: object
  /** How the head is written; default without spaces. */
  indent?: number | undefined
  inputs?: string
}

function rowsOf(...sent: Sent[]): Uint8Array {
  const rows = new RowWriter()
  for (const { run, head = {}, indent, inputs = '' } of sent)
    writeFragment(rows, {
      ...emptyFragment(WORKSPACE, idOf(run), RANK.update, 1000),
      head: Buffer.from(JSON.stringify(head, null, indent)),
      inputs: Buffer.from(inputs),
    })
  return rows.finish()
}

/** The TraceRuns of each part of a batch, by lane. */
function dividedBy(routes: LaneRoutes, payloads: readonly Uint8Array[]): Record<number, string[]> {
  return Object.fromEntries(
    routes
      .divide(payloads)
      .map((part) => [part.lane, Array.from(fragmentsOfPart(part), ({ run_id }) => run_id)]),
  )
}

const routesOf = (lanes: number, remembered?: number): LaneRoutes =>
  createLaneRoutes({ lanes, laneBytes: 1, ...(remembered === undefined ? {} : { remembered }) })

describe('lanes by trace', () => {
  it.each([
    ['trace_id', 0, (trace: number) => ({ trace_id: idOf(trace) })],
    ['trace_id in JSON with spaces', 1, (trace: number) => ({ trace_id: idOf(trace) })],
    ['dotted_order', 0, (trace: number) => ({ dotted_order: `20261129T044332123456Z${idOf(trace)}.2026` })],
    ['the trace of a log record', 0, (trace: number) => ({ otel_trace_id: idOf(trace) })],
  ])('are found by %s', (_, indent, headOf) => {
    const batch = [0, 1, 2].map((trace) =>
      rowsOf(
        { run: trace },
        { run: 10 + trace, head: headOf(trace), indent },
        { run: 20 + trace, head: headOf(trace), indent },
      ),
    )
    expect(dividedBy(routesOf(3), batch)).toEqual({
      0: [0, 10, 20].map(idOf),
      1: [1, 11, 21].map(idOf),
      2: [2, 12, 22].map(idOf),
    })
  })

  it('keep a TraceRun whose later fragments name no trace, or another one', () => {
    const routes = routesOf(2)
    const [even, odd] = [{ trace_id: idOf(100) }, { trace_id: idOf(101) }]
    expect(dividedBy(routes, [rowsOf({ run: 1, head: even })])).toEqual({ 0: [idOf(1)] })
    expect(dividedBy(routes, [rowsOf({ run: 1 }, { run: 1, head: odd })])).toEqual({ 0: [idOf(1), idOf(1)] })
  })

  it.each([
    ['a tag', { tags: ['trace_id', `${'x'.repeat(28)}-1234567`] }],
    ['a name after a trace_id that is null', { trace_id: null, name: `${'x'.repeat(21)}-1234567` }],
  ])('are there for a TraceRun whose head looks as if it named a trace: %s', (_, head) => {
    expect(dividedBy(routesOf(2), [rowsOf({ run: 2, head }, { run: 3 })])).toEqual({
      1: [2, 3].map(idOf),
    })
  })

  it('count generations, and forget a TraceRun after two without a fragment', () => {
    const routes = routesOf(2, 2)
    const generation = (run: number, head?: object): [number, number] => {
      const [part] = routes.divide([rowsOf(head === undefined ? { run } : { run, head })])
      return [part!.generation, part!.lane]
    }
    const even = { trace_id: idOf(100) }
    expect(generation(1, even)).toEqual([0, 0])
    expect(generation(3, even)).toEqual([0, 0])
    expect(generation(1)).toEqual([1, 0]) // renews the route of 1
    expect(generation(5)).toEqual([1, 1])
    expect(generation(1)).toEqual([2, 0])
    expect(generation(3)).toEqual([2, 1]) // by its own id now
  })

  it('are as many as a batch has bytes for, so that a small batch is one part', () => {
    const routes = createLaneRoutes({ lanes: 4, laneBytes: 10_000 })
    const runs = (from: number, inputs: string): Uint8Array =>
      rowsOf(...[0, 1, 2, 3].map((n) => ({ run: from + n, inputs })))
    expect(routes.divide([runs(0, '{}')]).map(({ lane }) => lane)).toEqual([0])
    expect(routes.divide([runs(4, 'x'.repeat(4000))]).map(({ lane }) => lane)).toEqual([0, 1])
    expect(routes.divide([runs(8, 'x'.repeat(20_000))]).map(({ lane }) => lane)).toEqual([0, 1, 2, 3])
  })

  it('are one lane that takes batches whole on a machine with one processor', () => {
    const payloads = [rowsOf({ run: 1 }, { run: 2 })]
    expect(createLaneRoutes({ lanes: 1 }).divide(payloads)).toEqual([
      { lane: 0, payloads, rows: undefined, generation: 0 },
    ])
  })

  it('copy their rows for a part that is derived apart', () => {
    const payloads = [rowsOf({ run: 0 }, { run: 1, inputs: 'x'.repeat(300) }), rowsOf({ run: 3 }, { run: 2 })]
    const [even, odd] = routesOf(2).divide(payloads)
    expect(payloadsOf(even!)).toEqual([Buffer.from(Buffer.concat([rowsOf({ run: 0 }), rowsOf({ run: 2 })]))])
    expect(payloadsOf(odd!)).toEqual([
      Buffer.concat([rowsOf({ run: 1, inputs: 'x'.repeat(300) }), rowsOf({ run: 3 })]),
    ])
  })

  it('refuse rows that end too early', () => {
    const rows = rowsOf({ run: 1, inputs: 'x'.repeat(300) })
    expect(() => routesOf(2).divide([rows.subarray(0, rows.length - 1)])).toThrow(RangeError)
  })

  it('take any text of a client: every fragment is in one part', () => {
    const field = fc.constantFrom('"trace_id"', '"otel_trace_id"', '"dotted_order"')
    const nearlyId = fc.string({
      unit: fc.constantFrom('-', '+', '1', 'e', ' '),
      minLength: 20,
      maxLength: 60,
    })
    const text = fc
      .tuple(field, fc.constantFrom(':"', ':null,"', ','), fc.oneof(nearlyId, fc.string()))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (heads) => {
        const rows = new RowWriter()
        for (const [run, head] of heads.entries())
          writeFragment(rows, {
            ...emptyFragment(WORKSPACE, idOf(run), RANK.update, 1000),
            head: Buffer.from(head),
          })
        const parts = Object.values(dividedBy(routesOf(3), [rows.finish()]))
        expect(parts.flat().toSorted()).toEqual(heads.map((_, run) => idOf(run)))
      }),
      tries(500),
    )
  })
})
