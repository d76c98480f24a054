import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outlineRows } from '../../../test/support/traces/outline-rows.ts'
import { FragmentSet } from '../../ingest/derive/fragment-set.ts'
import {
  BIG_FIELDS,
  emptyFragment,
  type Fragment,
  RANK,
  readFragments,
  readOutlines,
  type SizedColumn,
  SIZED_COLUMNS,
  type StoredFragment,
  writeFragment,
} from '../rows/fragment.ts'
import { mergeFragments } from './merge.ts'
import { mergePlanned, type PayloadWant, planPayload } from './payload-plan.ts'
import { RowWriter } from '../rows/row-binary.ts'
import { tries } from '../../../test/support/properties.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const ID = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'

function stored(fragments: readonly Partial<Fragment>[]): StoredFragment[] {
  const writer = new RowWriter()
  for (const changes of fragments)
    writeFragment(writer, { ...emptyFragment(WORKSPACE, ID, RANK.update, 1000), ...changes })
  return [...readFragments(writer.finish())]
}

/** The outlines of fragments, with the columns of `wants` filled from the whole fragments. */
function filled(whole: readonly StoredFragment[], wants: readonly PayloadWant[]): StoredFragment[] {
  const set = new FragmentSet()
  for (const outline of readOutlines(outlineRows(whole))) set.add(outline)
  const out = new RowWriter()
  for (const { fragment, column } of wants) {
    const source = whole.find(({ hash }) => hash === fragment.hash)!
    out.raw(Buffer.from(fragment.key + fragment.hash, 'latin1'))
    for (const each of SIZED_COLUMNS) out.bytes(each === column ? source[each] : new Uint8Array(0))
  }
  set.fill(out.finish())
  return [...set.of(whole[0]!.key)]
}

const outlines = (whole: readonly StoredFragment[]): StoredFragment[] => [...readOutlines(outlineRows(whole))]

const json = fc
  .oneof(
    fc.constantFrom('', '{}', '[]', 'null', ' {} ', '""', '{"a":1}', '[unable to serialize]'),
    fc.string({ minLength: 10, maxLength: 60 }).map((text) => JSON.stringify({ text })),
  )
  .map((text) => new Uint8Array(Buffer.from(text)))
const record = fc
  .record({ name: fc.string({ maxLength: 5 }), start_time: fc.constant('2026-11-20T09:15:33Z') })
  .map((head) => new Uint8Array(Buffer.from(JSON.stringify(head))))
const extra = fc
  .dictionary(fc.constantFrom('a', 'b', 'metadata'), fc.dictionary(fc.constantFrom('x', 'y'), fc.nat()))
  .map((value) => new Uint8Array(Buffer.from(JSON.stringify(value))))
const fragment: fc.Arbitrary<Partial<Fragment>> = fc.record({
  rank: fc.constantFrom(...Object.values(RANK)),
  received_at: fc.nat(),
  head: record,
  inputs: json,
  outputs: json,
  events: json,
  extra,
  error: json,
  serialized: json,
})

/** The content of a merged TraceRun, with bytes as text. */
function plain({ raw, ...rest }: ReturnType<typeof mergeFragments>): unknown {
  const texts = Object.entries(raw).map(([name, bytes]) => [name, Buffer.from(bytes).toString()])
  return { ...rest, raw: Object.fromEntries(texts) as unknown }
}

describe('planPayload', () => {
  it('fetches all that merging reads, and no field that is overridden and too long to be empty', () => {
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 1, maxLength: 8 }), (fragments) => {
        const whole = stored(fragments)
        const { wants } = planPayload(outlines(whole))
        expect(plain(mergePlanned(filled(whole, wants)))).toEqual(plain(mergeFragments(whole)))
        for (const field of BIG_FIELDS)
          if (field !== 'extra')
            expect(wants.filter(({ column, bytes }) => column === field && bytes > 16).length).toBeLessThan(2)
      }),
      tries(500),
    )
  })

  it('plans the same whatever is already loaded', () => {
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 1, maxLength: 6 }), fc.nat(400), (fragments, most) => {
        const whole = stored(fragments)
        const { wants, omitted } = planPayload(outlines(whole), most)
        const fetched = mergePlanned(filled(whole, wants), most)
        expect(plain(fetched)).toEqual(plain(mergePlanned(whole, most)))
        expect(fetched.issues.some(({ code }) => code === 'payload_too_large')).toBe(omitted.length > 0)
      }),
      tries(300),
    )
  })

  it('fetches nothing when everything is loaded', () => {
    const whole = stored([{ inputs: Buffer.alloc(100, 0x20) }, { outputs: Buffer.alloc(100, 0x20) }])
    expect(planPayload(whole)).toEqual({ wants: [], bytes: 0, omitted: [] })
  })
})

describe('a TraceRun that is too large', () => {
  const text = (letter: string, size: number): Buffer => Buffer.from(JSON.stringify(letter.repeat(size - 2)))
  const whole = stored([
    {
      rank: RANK.create,
      head: Buffer.from('{"name":"large"}'),
      inputs: text('i', 600),
      error: text('e', 50),
    },
    { outputs: text('o', 300) },
    { rank: RANK.update_with_end, outputs: text('p', 500), events: text('v', 100) },
  ])

  it('keeps the fields that fit, in their order of weight, and never an older value instead', () => {
    const merged = mergePlanned(whole, 800)
    expect(Object.keys(merged.raw).sort()).toEqual(['error', 'events', 'inputs'])
    expect(merged.head).toEqual({ name: 'large' })
    expect(merged.issues).toMatchObject([
      { code: 'payload_too_large', severity: 'error', path: 'outputs', message: /500 bytes of outputs/ },
    ])
  })

  it('fetches nothing that is not shown', () => {
    const columns: SizedColumn[] = planPayload(outlines(whole), 800).wants.map(({ column }) => column)
    expect(columns.sort()).toEqual(['error', 'events', 'inputs'])
  })

  it('keeps the latest value of fields to which every fragment adds', () => {
    const extras = stored(
      [1, 2, 3].map((rank) => ({ rank, extra: Buffer.from(JSON.stringify({ [`key_${rank}`]: rank })) })),
    )
    const { extra: kept, issues } = mergePlanned(extras, 100)
    expect(kept).toEqual({ key_3: 3, key_2: 2 })
    expect(issues).toMatchObject([{ code: 'payload_too_large', severity: 'warning', path: 'extra' }])
  })
})
