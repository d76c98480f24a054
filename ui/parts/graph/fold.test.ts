import { describe, expect, it } from 'vitest'
import { foldGraph, ownNodes } from './fold.ts'
import { allSubgraphs } from './subgraphs.ts'

const edge = (source: string, target: string) => ({ source, target })
const DRAWING = {
  nodes: ['begin', 'nested:first', 'nested:deep:one', 'nested:deep:two', 'end'].map((id) => ({ id })),
  edges: [
    edge('begin', 'nested:first'),
    edge('nested:first', 'nested:deep:one'),
    edge('nested:deep:one', 'nested:deep:two'),
    edge('nested:deep:two', 'end'),
    edge('begin', 'begin'),
  ],
}

describe('folding subgraphs', () => {
  it('draws a folded subgraph as one node with the edges that lead into it and out of it', () => {
    expect(allSubgraphs(DRAWING.nodes)).toEqual(['nested', 'nested:deep'])
    const { nodes, edges } = foldGraph(DRAWING, new Set(['nested']))
    expect(nodes.map(({ id }) => id)).toEqual(['begin', 'nested', 'end'])
    expect(edges).toEqual([edge('begin', 'nested'), edge('nested', 'end'), edge('begin', 'begin')])
  })

  it('folds an inner subgraph alone, and the outermost one where both are folded', () => {
    const inner = foldGraph(DRAWING, new Set(['nested:deep']))
    expect(inner.nodes.map(({ id }) => id)).toEqual(['begin', 'nested:first', 'nested:deep', 'end'])
    const both = foldGraph(DRAWING, new Set(['nested:deep', 'nested']))
    expect(both.nodes.map(({ id }) => id)).toEqual(['begin', 'nested', 'end'])
    expect(foldGraph(DRAWING, new Set())).toBe(DRAWING)
  })

  it('names the nodes of the graph itself, of a subgraph its own name', () => {
    const nodes = [...DRAWING.nodes, { id: '__start__' }, { id: '__end__' }]
    expect(ownNodes({ ...DRAWING, nodes })).toEqual(['begin', 'nested', 'end'])
  })
})
