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
import { outlineRows } from '../../test/support/outline-rows.ts'
import { requestHead } from '../../test/support/wire-body.ts'
import { dashed } from '../base/ids.ts'
import { decodeRequest } from '../trace/decode.ts'
import { keyOf, readFragments, SIZED_COLUMNS, type StoredFragment } from '../trace/fragment.ts'
import { mergeFragments } from '../trace/merge.ts'
import { LOG_PREFIX, SPAN_KEY } from '../trace/otel/span.ts'
import { spanUuid } from '../trace/otel/span-ids.ts'
import { RowReader, RowWriter } from '../trace/row-binary.ts'
import { readRows, TRACE_RUN_COLUMNS, type TraceRunRow } from '../trace/trace-run-row.ts'
import type { WorkspaceIds } from './derive-batch.ts'
import type { WorkspaceWants } from './derive-portions.ts'
import type { Derived } from './derived-writer.ts'
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
  readonly #fragments = new Map<string, StoredFragment[]>()
  readonly #children = new Map<string, Map<string, boolean>>()
  readonly #deriver: Deriver
  /** Questions that it was asked. */
  asked = 0
  /** Bytes of payload that were read back: of all, and the most in one answer. */
  readonly readBack = { all: 0, most: 0 }

  constructor(memoryBytes: number, portionBytes?: number) {
    this.#deriver = createDeriver(context, createOpenFragments(memoryBytes), portionBytes)
  }

  take(payloads: readonly Uint8Array[], bare: ReadonlySet<string> = new Set()): Derived {
    for (const payload of payloads) this.#insert(payload)
    let step = this.#deriver.begin(payloads, bare, [])
    while (step.kind === 'needs') {
      this.asked++
      step = this.#deriver.goOn({
        outlines: keysOf(step.outlines).map((key) => outlineRows(this.#fragments.get(key) ?? [])),
        payloads: step.payloads.length === 0 ? [] : [this.#payloads(step.payloads)],
        children: step.children_of.map(({ workspace_id, run_ids }) => ({
          workspace_id,
          pairs: run_ids.flatMap((parent_run_id) => this.#waiting(workspace_id, parent_run_id)),
        })),
      })
    }
    this.#insert(step.adopted)
    this.#note(step.waiting)
    for (const row of readRows(step.rows, TRACE_RUN_COLUMNS)) {
      const known = this.rows.get(row.run_id)
      if (row.is_deleted === 0 && (known === undefined || known.version <= row.version))
        this.rows.set(row.run_id, row)
    }
    this.#note(step.resolved)
    return step
  }

  /** Children that wait for their parents. */
  get waiting(): number {
    return [...this.#children.values()].flatMap((notes) => [...notes.values()]).filter(Boolean).length
  }

  /** Keys of `extra` of what is stored of a TraceRun. */
  readonly extraOf = (run_id: string): string[] =>
    Object.keys(mergeFragments(this.#fragments.get(keyOf(otlpHead().workspace_id, run_id)) ?? []).extra)

  #insert(payload: Uint8Array): void {
    for (const fragment of readFragments(Uint8Array.from(payload))) {
      const known = this.#fragments.get(fragment.key) ?? []
      this.#fragments.set(fragment.key, [...known, fragment])
    }
  }

  #payloads(groups: readonly WorkspaceWants[]): Uint8Array {
    const out = new RowWriter()
    for (const { workspace_id, wants } of groups) {
      for (const { run_id, hash, columns } of wants) {
        const fragment = this.#fragments
          .get(keyOf(workspace_id, run_id))!
          .find((one) => Buffer.from(one.hash, 'latin1').toString('hex') === hash)!
        out.raw(Buffer.from(fragment.key + fragment.hash, 'latin1'))
        for (const column of SIZED_COLUMNS)
          out.bytes(columns.includes(column) ? fragment[column] : new Uint8Array(0))
      }
    }
    this.readBack.all += out.length
    this.readBack.most = Math.max(this.readBack.most, out.length)
    return out.finish()
  }

  #waiting(workspace_id: string, parent_run_id: string): { parent_run_id: string; run_id: string }[] {
    const notes = this.#children.get(keyOf(workspace_id, parent_run_id)) ?? new Map<string, boolean>()
    return [...notes].flatMap(([run_id, waits]) => (waits ? [{ parent_run_id, run_id }] : []))
  }

  #note(rows: Uint8Array): void {
    const reader = new RowReader(rows)
    while (!reader.done) {
      const key = keyOf(reader.uuid(), reader.uuid())
      const known = this.#children.get(key) ?? new Map<string, boolean>()
      this.#children.set(key, known.set(reader.uuid(), reader.u8() === 0))
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

  it('lets nothing wait for what has come', () => {
    const store = stored([[grandchild], [child]])
    expect(store.waiting).toBe(2)
    store.take([root])
    expect(store.waiting).toBe(0)
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

describe('a TraceRun with large payloads', () => {
  const id = 'bb000000-0000-4000-8000-000000000001'
  const UPDATES = 20
  const BYTES = 50_000
  const patch = (n: number, more: object = {}): Uint8Array => {
    const record = {
      outputs: { text: `${n} `.padEnd(BYTES, 'x') },
      extra: { metadata: { [`update_${n}`]: n } },
      ...more,
    }
    const head = requestHead({ kind: 'update', path_run_id: id })
    return decodeRequest(head, Buffer.from(JSON.stringify(record))).rows
  }
  const post = decodeRequest(
    requestHead({ kind: 'create' }),
    Buffer.from(JSON.stringify({ id, name: 'large', start_time: '2026-11-20T09:15:33Z', inputs: { a: 1 } })),
  ).rows
  const updates = Array.from({ length: UPDATES }, (_, n) => patch(n))
  const whole = stored([[post, ...updates]]).rows.get(id)!

  it.each([
    ['nothing is remembered', 0],
    ['it is too large to be remembered whole', 1_000_000],
  ])('is read back once an update, not once for every earlier one, where %s', (_, memoryBytes) => {
    const { rows, readBack } = stored([[post], ...updates.map((update) => [update])], memoryBytes)
    expect(rows.get(id)).toEqual(whole)
    expect(Object.keys(whole.metadata)).toHaveLength(UPDATES)
    // Every update, the first ones apart, needs the outputs that win and the metadata of all before it.
    expect(readBack.all).toBeLessThan(UPDATES * (BYTES + UPDATES * 300))
    expect(readBack.most).toBeLessThan(BYTES + UPDATES * 300)
  })

  it('is derived in portions with others', () => {
    const ids = [1, 2, 3, 4].map((n) => `bb000000-0000-4000-8000-00000000000${n}`)
    const update = (one: string, record: object): Uint8Array =>
      decodeRequest(requestHead({ kind: 'update', path_run_id: one }), Buffer.from(JSON.stringify(record)))
        .rows
    const store = new MemoryStore(0, 100_000)
    store.take(ids.map((one) => update(one, { name: 'big', outputs: { text: 'x'.repeat(45_000) } })))
    store.take(ids.map((one) => update(one, { end_time: '2026-11-20T09:15:34Z' })))
    expect(ids.map((one) => store.rows.get(one)!.status)).toEqual(ids.map(() => 'success'))
    expect(ids.map((one) => store.rows.get(one)!.outputs_preview.length)).toEqual([300, 300, 300, 300])
    // Two at a time: a question for outlines by each batch, two for payloads.
    expect(store.readBack.most).toBeLessThan(100_000)
    expect(store.readBack.all).toBeGreaterThan(180_000)
    expect(store.asked).toBe(2 + 2)
  })
})

describe('a TraceRun that cannot be derived', () => {
  const record = { id: 'cc000000-0000-4000-8000-000000000001', name: 'bad', run_type: 'llm' }
  const outputs = { messages: [{ role: 'assistant', content: 'x' }] }
  const rows = decodeRequest(
    requestHead({ kind: 'create' }),
    Buffer.from(JSON.stringify({ ...record, end_time: '2026-11-20T09:15:34Z', outputs })),
  ).rows

  it('has a row with its main fields, and what went wrong is told', () => {
    // `context` refuses to estimate.
    const store = stored([[rows]])
    expect(store.rows.get(record.id)).toMatchObject({ name: 'bad', run_type: 'llm', outputs_preview: '' })
    expect(store.rows.get(record.id)!.issues).toContain('not_derived')
  })

  it('is not looked into when it is known as such', () => {
    const store = new MemoryStore(0)
    const { failures } = store.take([rows], new Set([keyOf(requestHead().workspace_id, record.id)]))
    expect(failures).toEqual([])
    expect(store.rows.get(record.id)!.issues).toContain('not_derived')
  })
})
