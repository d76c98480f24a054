import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  attributes,
  jsonExport,
  jsonLogExport,
  jsonSpan,
  otlpHead,
  spanId,
  TRACE,
} from '../../test/support/otlp-body.ts'
import { requestHead } from '../../test/support/wire-body.ts'
import { dashed } from '../base/ids.ts'
import { decodeRequest } from '../trace/decode.ts'
import { keyOf, readFragments } from '../trace/fragment.ts'
import { mergeFragments } from '../trace/merge.ts'
import { LOG_PREFIX, SPAN_KEY } from '../trace/otel/span.ts'
import { spanUuid } from '../trace/otel/span-ids.ts'
import { RowReader } from '../trace/row-binary.ts'
import { readRows, TRACE_RUN_COLUMNS, type TraceRunRow } from '../trace/trace-run-row.ts'
import type { WorkspaceIds } from './derive-batch.ts'
import { createDeriver, type Deriver } from './deriver.ts'
import { createOpenFragments } from './open-fragments.ts'

const context = {
  processors: [],
  startEstimate: (): never => {
    throw new Error('These spans are of no type that has counts.')
  },
}
const ROOT = dashed(TRACE)

/** A store that keeps what the deriver asks back for, and the newest version of each row. */
class MemoryStore {
  readonly rows = new Map<string, TraceRunRow>()
  readonly #fragments = new Map<string, Uint8Array[]>()
  readonly #children = new Map<string, Set<string>>()
  readonly #deriver: Deriver
  /** Questions that it was asked. */
  asked = 0

  constructor(memoryBytes: number) {
    this.#deriver = createDeriver(context, createOpenFragments(memoryBytes))
  }

  take(payloads: readonly Uint8Array[]): void {
    for (const payload of payloads) this.#insert(payload)
    let step = this.#deriver.begin(payloads)
    while (step.kind === 'needs') {
      this.asked++
      const fragments = keysOf(step.fragments).flatMap((key) => this.#fragments.get(key) ?? [])
      const children = step.children_of.map(({ workspace_id, run_ids }) => ({
        workspace_id,
        run_ids: run_ids.flatMap((id) => [...(this.#children.get(keyOf(workspace_id, id)) ?? [])]),
      }))
      step = this.#deriver.goOn({ fragments, children })
    }
    this.#insert(step.adopted)
    this.#noteWaiting(step.waiting)
    for (const row of readRows(step.rows, TRACE_RUN_COLUMNS)) {
      const known = this.rows.get(row.run_id)
      if (row.is_deleted === 0 && (known === undefined || known.version <= row.version))
        this.rows.set(row.run_id, row)
    }
  }

  /** Keys of `extra` of what is stored of a TraceRun. */
  readonly extraOf = (run_id: string): string[] => {
    const rows = this.#fragments.get(keyOf(otlpHead().workspace_id, run_id)) ?? []
    return Object.keys(mergeFragments(rows.flatMap((row) => [...readFragments(row)])).extra)
  }

  #insert(payload: Uint8Array): void {
    for (const { key, row } of readFragments(payload)) {
      const known = this.#fragments.get(key) ?? []
      this.#fragments.set(key, [...known, Uint8Array.from(row)])
    }
  }

  #noteWaiting(waiting: Uint8Array): void {
    const reader = new RowReader(waiting)
    while (!reader.done) {
      const key = keyOf(reader.uuid(), reader.uuid())
      const known = this.#children.get(key) ?? new Set()
      this.#children.set(key, known.add(reader.uuid()))
      reader.i64()
    }
  }
}

function keysOf(groups: readonly WorkspaceIds[]): string[] {
  return groups.flatMap(({ workspace_id, run_ids }) => run_ids.map((id) => keyOf(workspace_id, id)))
}

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

/** What must not depend on the order. */
function outcome(store: MemoryStore): unknown {
  const rows = [...store.rows.values()].sort((a, b) => (a.run_id < b.run_id ? -1 : 1))
  return rows.map(({ run_id, parent_run_id, trace_id, dotted_order, name, issues }) => [
    name,
    run_id,
    trace_id,
    parent_run_id,
    dotted_order,
    issues.filter((code) => code === 'parent_unknown'),
  ])
}

function stored(batches: readonly (readonly Uint8Array[])[], memoryBytes = 0): MemoryStore {
  const store = new MemoryStore(memoryBytes)
  for (const batch of batches) store.take(batch)
  return store
}

describe('places of spans', () => {
  const root = spans(jsonSpan(0))
  const child = spans(jsonSpan(1, { parentSpanId: spanId(0) }))
  const grandchild = spans(jsonSpan(2, { parentSpanId: spanId(1) }))

  it('gives the root the id of its trace, and its children that parent', () => {
    const { rows, asked } = stored([[root, child, grandchild]])
    expect(asked).toBe(1)
    expect(rows.get(ROOT)).toMatchObject({ name: 'span 0', dotted_order: `20261120T091533000000Z${ROOT}` })
    const below = `20261120T091533000000Z${ROOT}.20261120T091533000000Z${spanUuid(spanId(1))}`
    expect(rows.get(spanUuid(spanId(1)))).toMatchObject({ parent_run_id: ROOT, dotted_order: below })
    expect(rows.get(spanUuid(spanId(2)))).toMatchObject({
      parent_run_id: spanUuid(spanId(1)),
      dotted_order: `${below}.20261120T091533000000Z${spanUuid(spanId(2))}`,
    })
  })

  it('shows a span without its parent at once, in its trace, and says so', () => {
    const { rows } = stored([[child]])
    expect(rows.get(spanUuid(spanId(1)))).toMatchObject({
      trace_id: ROOT,
      parent_run_id: spanUuid(spanId(0)),
      issues: expect.arrayContaining(['parent_unknown']),
    })
  })

  it('puts them right when the parent comes, down to the last descendant', () => {
    expect(outcome(stored([[grandchild], [child], [root]]))).toEqual(
      outcome(stored([[root], [child], [grandchild]])),
    )
  })

  it('finds a parent whose id the client chose by its span id', () => {
    const own = 'ab000000-0000-7000-8000-000000000001'
    const chosen = spans(
      jsonSpan(1, { parentSpanId: spanId(0), attributes: attributes({ 'langsmith.span.id': own }) }),
    )
    for (const order of [
      [[root], [chosen], [grandchild]],
      [[grandchild], [chosen], [root]],
    ]) {
      const { rows } = stored(order)
      expect([...rows.keys()].sort()).toEqual([spanUuid(spanId(2)), ROOT, own].sort())
      expect(rows.get(spanUuid(spanId(2)))).toMatchObject({ parent_run_id: own })
      expect(rows.get(spanUuid(spanId(2)))!.issues).not.toContain('parent_unknown')
    }
  })

  it('does not follow a circle of parents', () => {
    const circle = [
      jsonSpan(1, { parentSpanId: spanId(2) }),
      jsonSpan(2, { parentSpanId: spanId(1) }),
      jsonSpan(3, { parentSpanId: spanId(3) }),
    ]
    expect(stored([[spans(...circle)]]).rows.size).toBe(3)
  })

  it('leaves native updates without a place to their parents as before', () => {
    const parent = 'aa000000-0000-4000-8000-000000000001'
    const id = 'aa000000-0000-4000-8000-000000000002'
    const post = (record: object): Uint8Array =>
      decodeRequest(requestHead({ kind: 'create' }), Buffer.from(JSON.stringify(record))).rows
    const start_time = '2026-11-20T09:15:33Z'
    const { rows } = stored([
      [post({ id, parent_run_id: parent, name: 'child', start_time })],
      [post({ id: parent, name: 'parent', start_time })],
    ])
    expect(rows.get(id)).toMatchObject({ trace_id: parent, parent_run_id: parent })
    expect(rows.get(id)!.issues).not.toContain('parent_unknown')
  })
})

describe('log records of spans', () => {
  const span = (n: number) => spans(jsonSpan(n, n === 0 ? {} : { parentSpanId: spanId(0) }))

  it.each([
    ['the root', 0, ROOT],
    ['a child', 1, spanUuid(spanId(1))],
  ])('join %s, whichever comes first', (_, n, id) => {
    const log = logs(genAiLog(n, 'hello'))
    const whole = stored([[span(n), log]]).rows.get(id)!
    expect(whole.version).toBeGreaterThan(stored([[span(n)]]).rows.get(id)!.version)
    for (const memoryBytes of [0, 1_000_000]) {
      for (const order of [[[log], [span(n)]], [[span(n)], [log]], [[span(n), log]]]) {
        const { rows, extraOf } = stored(order, memoryBytes)
        expect([...rows.keys()]).toEqual([id])
        expect(rows.get(id)).toMatchObject({ name: `span ${n}`, version: whole.version })
        expect(extraOf(id)).toEqual(expect.arrayContaining([SPAN_KEY, expect.stringContaining(LOG_PREFIX)]))
      }
    }
  })

  it('make nothing by themselves', () => {
    expect(stored([[logs(genAiLog(1, 'hello'))]]).rows.size).toBe(0)
  })
})

describe('spans in any order', () => {
  it('make the same rows', () => {
    const tree = fc
      .array(fc.nat(), { minLength: 1, maxLength: 10 })
      .map((parents) => [
        jsonSpan(0),
        ...parents.map((parent, i) => jsonSpan(i + 1, { parentSpanId: spanId(parent % (i + 1)) })),
      ])
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
        const inPieces = stored(
          [...batches, ...again.map((span) => [span])].map((batch) => [spans(...batch)]),
        )
        expect(outcome(inPieces)).toEqual(outcome(stored([[spans(...all)]])))
      }),
      { numRuns: 300 },
    )
  })
})
