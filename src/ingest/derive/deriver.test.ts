import { describe, expect, it } from 'vitest'
import { MemoryTraceStore, storedIn } from '../../../test/support/stores/memory-trace-store.ts'
import { requestHead } from '../../../test/support/traces/wire-body.ts'
import { decodeRequest } from '../../trace/decode/decode.ts'
import { outlineRows, payloadRows } from '../../../test/support/traces/outline-rows.ts'
import { keyOf, readFragments } from '../../trace/rows/fragment.ts'
import { createDeriver } from './deriver.ts'
import { createOpenFragments } from './open-fragments.ts'

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
  const whole = storedIn([[post, ...updates]]).rows.get(id)!

  it.each([
    ['nothing is remembered', 0],
    ['it is too large to be remembered whole', 1_000_000],
  ])('is read back once an update, not once for every earlier one, where %s', (_, memoryBytes) => {
    const { rows, readBack } = storedIn([[post], ...updates.map((update) => [update])], memoryBytes)
    expect(rows.get(id)).toEqual(whole)
    expect(Object.keys(whole.metadata)).toHaveLength(UPDATES)
    // Every update except the first ones reads back the outputs that count, and the metadata of all earlier updates.
    expect(readBack.all).toBeLessThan(UPDATES * (BYTES + UPDATES * 300))
    expect(readBack.most).toBeLessThan(BYTES + UPDATES * 300)
  })

  it('is derived in portions with others', () => {
    const ids = [1, 2, 3, 4].map((n) => `bb000000-0000-4000-8000-00000000000${n}`)
    const update = (one: string, record: object): Uint8Array =>
      decodeRequest(requestHead({ kind: 'update', path_run_id: one }), Buffer.from(JSON.stringify(record)))
        .rows
    const store = new MemoryTraceStore(0, 100_000)
    store.take(ids.map((one) => update(one, { name: 'big', outputs: { text: 'x'.repeat(45_000) } })))
    store.take(ids.map((one) => update(one, { end_time: '2026-11-20T09:15:34Z' })))
    expect(ids.map((one) => store.rows.get(one)!.status)).toEqual(ids.map(() => 'success'))
    expect(ids.map((one) => store.rows.get(one)!.outputs_preview.length)).toEqual([500, 500, 500, 500])
    // Two batches at a time: each reads outlines once and payloads twice.
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

  it('has a row with its main fields, and an issue with the reason', () => {
    // The estimator of `context` throws.
    const store = storedIn([[rows]])
    expect(store.rows.get(record.id)).toMatchObject({ name: 'bad', run_type: 'llm', outputs_preview: '' })
    expect(store.rows.get(record.id)!.issues).toContain('not_derived')
  })

  it('is not read again when it is known as such', () => {
    const store = new MemoryTraceStore(0)
    const { failures } = store.take([rows], new Set([keyOf(requestHead().workspace_id, record.id)]))
    expect(failures).toEqual([])
    expect(store.rows.get(record.id)!.issues).toContain('not_derived')
  })
})

describe('the cache of a lane', () => {
  const WORKSPACE = requestHead().workspace_id
  const idOf = (n: number): string => `cc000000-0000-4000-8000-00000000000${n}`
  const created = (n: number, more: object = {}): Uint8Array =>
    decodeRequest(
      requestHead({ kind: 'create' }),
      Buffer.from(JSON.stringify({ id: idOf(n), name: `${n}`, start_time: '2026-11-29T00:00:00Z', ...more })),
    ).rows

  /** Derives a parent, whose batch finds that the given child waits for it; returns what is cached afterwards. */
  function cachedAfter(parent: Uint8Array, child: Uint8Array): boolean[] {
    const memory = createOpenFragments(1_000_000)
    const startEstimate = (): never => {
      throw new Error('nothing has tokens')
    }
    const deriver = createDeriver({ processors: [], startEstimate }, memory)
    const batch = {
      payloads: [parent],
      rows: undefined,
      generation: 0,
      headOnly: new Set<string>(),
      periods: [],
    }
    const none = { outlines: [], payloads: [], children: [], below: [] }
    const [from] = readFragments(parent)
    const [waiting] = readFragments(child)
    const pairs = [{ parent_run_id: from!.run_id, run_id: waiting!.run_id }]
    deriver.begin(batch)
    deriver.goOn({ ...none, children: [{ workspace_id: WORKSPACE, pairs }] })
    const step = deriver.goOn({ ...none, outlines: [outlineRows([waiting!])] })
    if (step.kind === 'needs')
      deriver.goOn({ ...none, payloads: [payloadRows([waiting!], ['inputs', 'extra'])] })
    return [from!.key, waiting!.key].map((key) => memory.take(key) !== undefined)
  }

  it('has TraceRuns of its own part only, since fragments of others go to other lanes', () => {
    expect(cachedAfter(created(1), created(2, { parent_run_id: idOf(1) }))).toEqual([true, false])
  })

  it('has no update that came before its span, since another lane may add the span', () => {
    const memory = createOpenFragments(1_000_000)
    const startEstimate = (): never => {
      throw new Error('nothing has tokens')
    }
    const deriver = createDeriver({ processors: [], startEstimate }, memory)
    const cached = ['00000000-0000-0000-00ab-000000000001', idOf(1)].map((path_run_id) => {
      const { rows } = decodeRequest(
        requestHead({ kind: 'update', path_run_id }),
        Buffer.from(JSON.stringify({ name: 'updated' })),
      )
      const part = { payloads: [rows], rows: undefined, generation: 0 }
      deriver.begin({ ...part, headOnly: new Set<string>(), periods: [] })
      const step = deriver.goOn({ outlines: [], payloads: [], children: [], below: [] })
      expect(step).toMatchObject({ kind: 'done', count: 1 })
      return memory.take(keyOf(WORKSPACE, path_run_id)) !== undefined
    })
    expect(cached).toEqual([false, true])
  })
})
