import { expect, it } from 'vitest'
import { searchOrder } from './search-order.ts'

const outline = {
  ids: ['agent', 'ask', 'tool', 'again', 'late'],
  starts: Float64Array.from([0, 1, 2, 3, 4]),
  types: ['chain', 'llm', 'tool', 'llm', 'llm'],
}
const tree = { order: Int32Array.from([0, 1, 2, 3, 4]) }
const paths = new Map([
  ['tool', ['error']],
  ['again', ['inputs.messages[2].content']],
])

it('steps through the runs in which a text is new before those whose input repeats it', () => {
  const both = new Map([...paths, ['again', ['inputs.messages[2].content', 'outputs.text']]] as const)
  expect(searchOrder(outline, tree, new Set([4, 3, 2]), paths)).toEqual({ order: [2, 3, 4], repeated: 2 })
  expect(searchOrder(outline, tree, new Set([3, 2]), both)).toEqual({ order: [2, 3], repeated: 0 })
})

it('counts the earliest match as new, even if it is an input', () => {
  const asked = new Map([
    ['agent', ['inputs.question']],
    ['ask', ['inputs.messages[0].content']],
    ['again', ['outputs.text', 'inputs.messages[0].content']],
  ])
  expect(searchOrder(outline, tree, new Set([0, 1, 3]), asked)).toEqual({ order: [0, 3, 1], repeated: 1 })
})

it('keeps the order of the tree while no paths are known', () => {
  expect(searchOrder(outline, tree, new Set([3, 1]), new Map())).toEqual({ order: [1, 3], repeated: 0 })
  expect(searchOrder(outline, tree, undefined, paths)).toEqual({ order: [], repeated: 0 })
})
