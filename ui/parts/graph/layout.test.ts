import { describe, expect, it } from 'vitest'
import { placeGraph } from './layout.ts'

const drawing = (edges: [string, string][]) => ({
  nodes: [...new Set(edges.flat())].map((id) => ({ id })),
  edges: edges.map(([source, target]) => ({ source, target })),
})

describe('the picture of a graph', () => {
  it('has one edge for each pair of nodes, and all of it fits into its box', () => {
    const ends = ['a', 'b', 'c', 'd', '__end__'].map((id): [string, string] => ['__start__', id])
    const back = ['a', 'b', 'c', 'd'].map((id): [string, string] => [id, '__end__'])
    const { nodes, edges, left, width } = placeGraph(drawing([...ends, ...ends, ...back]))
    expect(edges).toHaveLength(9)
    const xs = edges.flatMap(({ path }) => [...path.matchAll(/(-?[\d.]+),/g)].map(([, x]) => Number(x)))
    expect(Math.min(...xs)).toBeGreaterThan(left)
    expect(Math.max(...xs)).toBeLessThan(left + width)
    expect(nodes.map(({ kind }) => kind)).toEqual(['start', 'node', 'node', 'node', 'node', 'end'])
  })

  it('draws an edge of a node to itself as a loop that begins and ends at its right side', () => {
    const { nodes, edges, left, width } = placeGraph(drawing([['plan', 'plan']]))
    const [{ x, y, width: breadth }] = nodes as [(typeof nodes)[0]]
    const side = x + breadth / 2
    expect(edges.map(({ path }) => path)).toEqual([
      `M${side},${y - 9}C${side + 32},${y - 22} ${side + 32},${y + 22} ${side},${y + 9}`,
    ])
    expect(side + 32).toBeLessThan(left + width)
  })

  it('draws a frame with a name around each subgraph, and nothing else inside', () => {
    const { nodes, frames, width, height } = placeGraph(
      drawing([
        ['__start__', 'plan'],
        ['plan', 'nested:first'],
        ['plan', 'beside'],
        ['nested:first', 'nested:deep:second'],
        ['nested:deep:second', 'nested:__end__'],
        ['nested:__end__', '__end__'],
        ['beside', '__end__'],
      ]),
    )
    expect(frames.map(({ id, label }) => [id, label])).toEqual([
      ['nested', 'nested'],
      ['nested:deep', 'deep'],
    ])
    for (const { x, y, ...box } of frames) {
      const frame = { ...box, x: x - box.width / 2, y: y - box.height / 2 }
      const inside = nodes.filter(
        (node) =>
          node.x + node.width / 2 > frame.x &&
          node.x - node.width / 2 < frame.x + frame.width &&
          node.y + node.height / 2 > frame.y &&
          node.y - node.height / 2 < frame.y + frame.height,
      )
      expect(inside.every(({ id }) => id.startsWith(`${frame.id}:`))).toBe(true)
      const members = nodes.filter(({ id }) => id.startsWith(`${frame.id}:`))
      expect(inside).toHaveLength(members.length)
      // The name has a line of its own above the nodes.
      expect(Math.min(...members.map(({ y }) => y - 18)) - frame.y).toBeGreaterThanOrEqual(16)
      expect([frame.x >= 0, frame.x + frame.width <= width, frame.y + frame.height <= height]).toEqual([
        true,
        true,
        true,
      ])
    }
  })

  it('gives every node room for its state and time', () => {
    const { nodes } = placeGraph(drawing([['__start__', 'f']]))
    expect(nodes.find(({ id }) => id === 'f')?.width).toBeGreaterThanOrEqual(96)
  })

  it('names nodes of subgraphs by their last part', () => {
    const { nodes } = placeGraph(drawing([['nested:first', 'nested:__end__']]))
    expect(nodes.map(({ label }) => label)).toEqual(['first', 'END'])
  })
})
