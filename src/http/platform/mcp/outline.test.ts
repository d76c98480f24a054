import { expect, it } from 'vitest'
import { expectCpuBelow } from '../../../../test/support/cpu-bound.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { mostTelling, readOutlineNodes } from './outline.ts'

/** An outline of `count` runs; `parentOf` has the place of each one's parent, -1 for the root. */
function outlineOf(count: number, parentOf: (place: number) => number): SchemaTypes['trace-outline'] {
  const places = [...Array(count).keys()]
  const zeros = places.map(() => 0)
  const columns = {
    id: places.map((place) => place.toString(16).padStart(32, '0')),
    parent: places.map(parentOf),
    name: zeros,
    run_type: zeros,
    status: zeros,
    model: places.map(() => -1),
    start: places,
    duration: places,
    tokens: zeros,
    cost: zeros,
  }
  const words = { names: ['step'], run_types: ['chain'], statuses: ['success'], models: [] }
  return { ...words, columns } as unknown as SchemaTypes['trace-outline']
}

it('TRC-3: a root with 200,000 children is read', () => {
  const nodes = readOutlineNodes(outlineOf(200_000, (place) => (place === 0 ? -1 : 0)))
  expect(nodes).toHaveLength(200_000)
  expect(nodes[0]?.children).toHaveLength(199_999)
})

it('TRC-3: the most telling runs of a deep chain, whose slowest run is the deepest, are found within a second', () => {
  const nodes = readOutlineNodes(outlineOf(50_000, (place) => place - 1))
  expectCpuBelow(1, () => {
    expect(mostTelling(nodes, [...nodes.keys()], 300)).toEqual([...Array(300).keys()])
  })
})
