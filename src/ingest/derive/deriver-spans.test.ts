import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MemoryTraceStore, storedIn } from '../../../test/support/stores/memory-trace-store.ts'
import {
  attributes,
  jsonExport,
  jsonLogExport,
  jsonSpan,
  otlpHead,
  spanId,
  TRACE,
} from '../../../test/support/traces/otlp-body.ts'
import { requestHead } from '../../../test/support/traces/wire-body.ts'
import { dashed, NIL_UUID } from '../../base/ids.ts'
import { decodeRequest } from '../../trace/decode/decode.ts'
import { LOG_PREFIX, SPAN_KEY } from '../../trace/otel/span/span.ts'
import { spanUuid } from '../../trace/otel/span/ids.ts'
import { tries } from '../../../test/support/properties.ts'

const ROOT = dashed(TRACE)

const spans = (...all: object[]): Uint8Array => decodeRequest(otlpHead(), jsonExport(all)).rows
const logs = (...all: object[]): Uint8Array =>
  decodeRequest(otlpHead({ kind: 'otlp-logs' }), jsonLogExport(all)).rows

const genAiLog = (n: number, text: string) => ({
  traceId: TRACE,
  spanId: spanId(n),
  timeUnixNano: '1795166133100000000',
  eventName: 'gen_ai.user.message',
  body: { stringValue: text },
})

/** The results, which must not depend on the order. */
function outcome(store: MemoryTraceStore): unknown {
  const rows = [...store.rows.values()].sort((a, b) => (a.run_id < b.run_id ? -1 : 1))
  return rows.map(({ run_id, parent_run_id, trace_id, dotted_order, name, issues }) => [
    name,
    run_id,
    trace_id,
    parent_run_id,
    dotted_order,
    issues.filter((code) => code === 'parent_unknown' || code === 'several_roots'),
  ])
}

describe('places of spans', () => {
  const root = spans(jsonSpan(0))
  const child = spans(jsonSpan(1, { parentSpanId: spanId(0) }))
  const grandchild = spans(jsonSpan(2, { parentSpanId: spanId(1) }))

  it('give the root the id of its trace, and its children that parent', () => {
    const { rows, asked } = storedIn([[root, child, grandchild]])
    expect(asked).toBe(1)
    expect(rows.get(ROOT)).toMatchObject({ name: 'span 0', dotted_order: `20261120T091533000000Z${ROOT}` })
    const below = `20261120T091533000000Z${ROOT}.20261120T091533000000Z${spanUuid(spanId(1))}`
    expect(rows.get(spanUuid(spanId(1)))).toMatchObject({ parent_run_id: ROOT, dotted_order: below })
    expect(rows.get(spanUuid(spanId(2)))).toMatchObject({
      parent_run_id: spanUuid(spanId(1)),
      dotted_order: `${below}.20261120T091533000000Z${spanUuid(spanId(2))}`,
    })
  })

  it('OTLP-7: show a span without its parent at once, in its trace, with an issue', () => {
    const { rows } = storedIn([[child]])
    expect(rows.get(spanUuid(spanId(1)))).toMatchObject({
      trace_id: ROOT,
      parent_run_id: spanUuid(spanId(0)),
      issues: expect.arrayContaining(['parent_unknown']),
    })
  })

  it('OTLP-7: are corrected when the parent arrives, down to the last descendant', () => {
    expect(outcome(storedIn([[grandchild], [child], [root]]))).toEqual(
      outcome(storedIn([[root], [child], [grandchild]])),
    )
  })

  it('find a parent with an id of the client by its span id', () => {
    const own = 'ab000000-0000-7000-8000-000000000001'
    const chosen = spans(
      jsonSpan(1, { parentSpanId: spanId(0), attributes: attributes({ 'langsmith.span.id': own }) }),
    )
    for (const order of [
      [[root], [chosen], [grandchild]],
      [[grandchild], [chosen], [root]],
    ]) {
      const { rows } = storedIn(order)
      expect([...rows.keys()].sort()).toEqual([spanUuid(spanId(2)), ROOT, own].sort())
      expect(rows.get(spanUuid(spanId(2)))).toMatchObject({ parent_run_id: own })
      expect(rows.get(spanUuid(spanId(2)))!.issues).not.toContain('parent_unknown')
    }
  })

  it('do not follow a circle of parents', () => {
    const circle = [
      jsonSpan(1, { parentSpanId: spanId(2) }),
      jsonSpan(2, { parentSpanId: spanId(1) }),
      jsonSpan(3, { parentSpanId: spanId(3) }),
    ]
    expect(storedIn([[spans(...circle)]]).rows.size).toBe(3)
  })

  it('do not change those of native updates, which follow their parents', () => {
    const parent = 'aa000000-0000-4000-8000-000000000001'
    const id = 'aa000000-0000-4000-8000-000000000002'
    const post = (record: object): Uint8Array =>
      decodeRequest(requestHead({ kind: 'create' }), Buffer.from(JSON.stringify(record))).rows
    const start_time = '2026-11-20T09:15:33Z'
    const { rows } = storedIn([
      [post({ id, parent_run_id: parent, name: 'child', start_time })],
      [post({ id: parent, name: 'parent', start_time })],
    ])
    expect(rows.get(id)).toMatchObject({ trace_id: parent, parent_run_id: parent })
    expect(rows.get(id)!.issues).not.toContain('parent_unknown')
  })

  it('leave no child waiting for a parent that has arrived', () => {
    const store = storedIn([[grandchild], [child]])
    expect(store.waiting).toBe(2)
    store.take([root])
    expect(store.waiting).toBe(0)
  })
})

describe('several spans without a parent in one trace', () => {
  const at = (n: number, second: number, changes: object = {}): Uint8Array =>
    spans(
      jsonSpan(n, {
        startTimeUnixNano: `17951661${second}000000000`,
        endTimeUnixNano: `17951661${second + 1}000000000`,
        ...changes,
      }),
    )
  const first = at(3, 33)
  const second = at(1, 34)
  const third = at(2, 34)
  const child = at(4, 35, { parentSpanId: spanId(1) })
  const grandchild = at(5, 36, { parentSpanId: spanId(4) })
  const all = [first, second, third, child, grandchild]
  const own = (n: number): string => spanUuid(spanId(n))

  it('become separate runs; the one that started first has the id of the trace', () => {
    const { rows } = storedIn([all])
    expect([...rows.keys()].sort()).toEqual([ROOT, own(1), own(2), own(4), own(5)].sort())
    expect(rows.get(ROOT)).toMatchObject({ name: 'span 3', parent_run_id: NIL_UUID, issues: [] })
    for (const n of [1, 2])
      expect(rows.get(own(n))).toMatchObject({
        name: `span ${n}`,
        trace_id: ROOT,
        parent_run_id: NIL_UUID,
        dotted_order: `20261120T091534000000Z${own(n)}`,
        issues: ['several_roots'],
      })
    expect(rows.get(own(4))).toMatchObject({ parent_run_id: own(1), trace_id: ROOT })
    expect(rows.get(own(5))!.dotted_order).toMatch(new RegExp(`^.{22}${own(1)}\\..{22}${own(4)}\\.`))
  })

  it('with the same start are ordered by their span ids', () => {
    expect(storedIn([[third, second]]).rows.get(ROOT)).toMatchObject({ name: 'span 1' })
  })

  it('pass the id of the trace to an earlier one, and their descendants are placed again', () => {
    const late = storedIn([[child, second], [grandchild], [third], [first]])
    expect(outcome(late)).toEqual(outcome(storedIn([all])))
    const twice = storedIn([
      [second, child],
      [third],
      [grandchild],
      [first],
      [second],
      [third],
      [first, child],
    ])
    expect(outcome(twice)).toEqual(outcome(storedIn([all])))
  })

  it('keep a TraceRun id that the client sent', () => {
    const sent = at(6, 39, { attributes: attributes({ 'langsmith.span.id': ROOT }) })
    for (const order of [[[sent], [first]], [[first], [sent]], [[sent, first]]]) {
      const { rows } = storedIn(order)
      expect(rows.get(ROOT)).toMatchObject({ name: 'span 6' })
      expect(rows.get(own(3))).toMatchObject({ name: 'span 3', trace_id: ROOT })
    }
  })

  it('keep their payloads, which are read from the id under which they were stored first', () => {
    const withValue = (n: number, second: number): Uint8Array =>
      at(n, second, { attributes: attributes({ value: `of ${n}` }) })
    const store = storedIn([[withValue(1, 34)], [withValue(3, 33)], [withValue(2, 35)]])
    for (const [id, n] of [
      [ROOT, 3],
      [own(1), 1],
      [own(2), 2],
    ] as const)
      expect(store.spanOf(id)).toMatchObject({ span_id: spanId(n), attributes: { value: `of ${n}` } })
  })

  it('keep their log records', () => {
    for (const order of [
      [[second], [logs(genAiLog(1, 'hello'))], [first]],
      [[logs(genAiLog(1, 'hello'))], [first], [second]],
      [[second, first], [logs(genAiLog(1, 'hello'))]],
    ]) {
      const { extraOf } = storedIn(order)
      expect(extraOf(ROOT)).toEqual([SPAN_KEY])
      expect(extraOf(own(1))).toEqual(expect.arrayContaining([SPAN_KEY, expect.stringContaining(LOG_PREFIX)]))
    }
  })
})

describe('OTLP-8: log records of spans', () => {
  const span = (n: number) => spans(jsonSpan(n, n === 0 ? {} : { parentSpanId: spanId(0) }))

  it.each([
    ['the root', 0, ROOT],
    ['a child', 1, spanUuid(spanId(1))],
  ])('join %s, whichever comes first', (_, n, id) => {
    const log = logs(genAiLog(n, 'hello'))
    const whole = storedIn([[span(n), log]]).rows.get(id)!
    expect(whole.version).toBeGreaterThan(storedIn([[span(n)]]).rows.get(id)!.version)
    for (const memoryBytes of [0, 1_000_000]) {
      for (const order of [[[log], [span(n)]], [[span(n)], [log]], [[span(n), log]]]) {
        const { rows, extraOf } = storedIn(order, memoryBytes)
        expect([...rows.keys()]).toEqual([id])
        expect(rows.get(id)).toMatchObject({ name: `span ${n}`, version: whole.version })
        expect(extraOf(id)).toEqual(expect.arrayContaining([SPAN_KEY, expect.stringContaining(LOG_PREFIX)]))
      }
    }
  })

  it('are no TraceRuns by themselves', () => {
    expect(storedIn([[logs(genAiLog(1, 'hello'))]]).rows.size).toBe(0)
  })
})

describe('spans in any order', () => {
  it('make the same rows', () => {
    // Several spans have no parent, so they share the id of the trace until the first one is known.
    const tree = fc
      .array(
        fc.record({ parent: fc.option(fc.nat(), { freq: 2 }), start: fc.integer({ min: 10, max: 15 }) }),
        { minLength: 2, maxLength: 11 },
      )
      .map((all) =>
        all.map(({ parent, start }, i) =>
          jsonSpan(i, {
            startTimeUnixNano: `17951661${start}000000000`,
            ...(parent === null || i === 0 ? {} : { parentSpanId: spanId(parent % i) }),
          }),
        ),
      )
    const arrangement = tree.chain((all) =>
      fc.record({
        all: fc.constant(all),
        order: fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
        cuts: fc.array(fc.nat({ max: all.length }), { maxLength: 4 }),
        again: fc.subarray(all),
      }),
    )
    fc.assert(
      fc.property(arrangement, ({ all, order, cuts, again }) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), order.length]
        const batches = edges
          .slice(1)
          .map((to, i) => order.slice(edges[i], to))
          .filter((batch) => batch.length > 0)
        const inPieces = storedIn(
          [...batches, ...again.map((span) => [span])].map((batch) => [spans(...batch)]),
        )
        expect(outcome(inPieces)).toEqual(outcome(storedIn([[spans(...all)]])))
      }),
      tries(75),
    )
  })
})
