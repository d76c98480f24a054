import { expect, it } from 'vitest'
import {
  emptyFragment,
  type Fragment,
  RANK,
  readFragments,
  type StoredFragment,
  writeFragment,
} from '../../trace/rows/fragment.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { createOpenFragments } from './open-fragments.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'

function fragments(id: number, ...changes: Partial<Fragment>[]): StoredFragment[] {
  const run_id = `01a1f83d-55e5-7000-8000-${String(id).padStart(12, '0')}`
  const writer = new RowWriter()
  for (const change of changes)
    writeFragment(writer, { ...emptyFragment(WORKSPACE, run_id, RANK.update, 1000), ...change })
  return [...readFragments(writer.finish())]
}

const text = (fragment: StoredFragment | undefined, column: 'head' | 'inputs'): string =>
  Buffer.from(fragment?.[column] ?? []).toString()

it('returns each stored fragment once, in memory of its own', () => {
  const memory = createOpenFragments(100_000)
  const told = fragments(1, { head: Buffer.from('{"a":1}'), inputs: Buffer.from('{"b":2}') })
  const { key } = told[0]!
  memory.set(key, told)
  told[0]!.row.fill(0)
  const [known] = memory.take(key)!
  expect([text(known, 'head'), text(known, 'inputs'), known!.left_out]).toEqual(['{"a":1}', '{"b":2}', {}])
  expect(memory.take(key)).toBeUndefined()
})

it('returns nothing that was cached two generations of routes ago', () => {
  const memory = createOpenFragments(100_000)
  const [first, second] = [fragments(1, {}), fragments(2, {})]
  memory.begin(4)
  for (const told of [first, second]) memory.set(told[0]!.key, told)
  memory.begin(5)
  expect(memory.take(first[0]!.key)).toHaveLength(1)
  memory.begin(6)
  expect(memory.take(second[0]!.key)).toBeUndefined()
})

it('keeps all but the large columns of a TraceRun that is too large', () => {
  const memory = createOpenFragments(100_000)
  const told = fragments(
    1,
    { head: Buffer.from('{"a":1}'), inputs: Buffer.alloc(60_000, 0x78) },
    { inputs: Buffer.from('{"b":2}') },
  )
  memory.set(told[0]!.key, told)
  const [large, small] = memory.take(told[0]!.key)!
  expect([text(large, 'head'), text(large, 'inputs'), large!.left_out]).toEqual([
    '{"a":1}',
    '',
    { inputs: 60_000 },
  ])
  expect([text(small, 'inputs'), small!.left_out]).toEqual(['{"b":2}', {}])
  expect(told[0]!.inputs.length).toBe(60_000)
})

it('drops the fragments that were used least recently', () => {
  const memory = createOpenFragments(20_000)
  const all = [1, 2, 3, 4, 5, 6].map((id) => fragments(id, { inputs: Buffer.alloc(4000, 0x78) }))
  for (const told of all) memory.set(told[0]!.key, told)
  expect(all.map((told) => memory.take(told[0]!.key) !== undefined)).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
  ])
})

it('stores nothing without free memory', () => {
  const memory = createOpenFragments(0)
  const told = fragments(1, {})
  memory.set(told[0]!.key, told)
  expect(memory.take(told[0]!.key)).toBeUndefined()
})
