import { describe, expect, it } from 'vitest'
import { buildTree } from '../tree.ts'
import { agentGraph } from './agent-graph.ts'

type Run = [name: string, type: string, parent: number, start: number, duration: number, cost?: string]

function graphOf(runs: readonly Run[], failed: readonly number[] = []) {
  const outline = {
    names: runs.map(([name]) => name),
    types: runs.map(([, type]) => type),
    statuses: runs.map((_, at) => (failed.includes(at) ? 'error' : 'success')),
    starts: Float64Array.from(runs, ([, , , start]) => start),
    durations: Float64Array.from(runs, ([, , , , duration]) => duration),
    tokens: Float64Array.from(runs, ([, type]) => (type === 'llm' ? 10 : Number.NaN)),
    costs: runs.map(([, , , , , cost]) => cost),
  }
  return agentGraph(outline, buildTree(Int32Array.from(runs, ([, , parent]) => parent)))
}

const named = ({ nodes, edges }: ReturnType<typeof graphOf>): string[] =>
  edges.map(({ source, target, kind, count }) => {
    const [from, to] = [nodes[source]?.name, nodes[target]?.name]
    return `${from} ${kind === 'then' ? '→' : '⇢'} ${to} ${count}`
  })

describe('the graph of an agent', () => {
  it('has a node for each name with its count, time, cost and failures, and edges by order', () => {
    const graph = graphOf(
      [
        ['agent', 'chain', -1, 0, 100, '0.3'],
        ['model', 'llm', 0, 0, 10, '0.1'],
        ['search', 'tool', 0, 10, 20],
        ['read', 'tool', 0, 12, 5],
        ['model', 'llm', 0, 30, 40, '0.2'],
        ['search', 'tool', 0, 80, 10],
      ],
      [3],
    )
    expect(graph.nodes).toEqual([
      {
        key: 'chain agent',
        name: 'agent',
        type: 'chain',
        count: 1,
        failed: 0,
        duration: 100,
        costs: ['0.3'],
        unpriced: 0,
      },
      {
        key: 'llm model',
        name: 'model',
        type: 'llm',
        count: 2,
        failed: 0,
        duration: 50,
        costs: ['0.1', '0.2'],
        unpriced: 0,
      },
      {
        key: 'tool search',
        name: 'search',
        type: 'tool',
        count: 2,
        failed: 0,
        duration: 30,
        costs: [],
        unpriced: 0,
      },
      {
        key: 'tool read',
        name: 'read',
        type: 'tool',
        count: 1,
        failed: 1,
        duration: 5,
        costs: [],
        unpriced: 0,
      },
    ])
    expect(named(graph).toSorted()).toEqual([
      'agent ⇢ model 1',
      'model → read 1',
      'model → search 2',
      'search → model 1',
    ])
  })

  it('keeps runs at the same moment apart, and runs that have not ended', () => {
    const graph = graphOf([
      ['root', 'chain', -1, 0, Number.NaN],
      ['a', 'tool', 0, 5, 0],
      ['b', 'tool', 0, 5, Number.NaN],
      ['c', 'tool', 0, 9, 1],
    ])
    expect(named(graph)).toEqual(['root ⇢ a 1', 'a → b 1', 'a → c 1'])
  })

  it('sums up names and edges beyond the most frequent, for 20,000 runs', () => {
    const runs = Array.from({ length: 20_000 }, (_, at): Run => {
      if (at === 0) return ['root', 'chain', -1, 0, 20_000]
      return [`name ${at % 70}`, 'tool', 0, at, 1]
    })
    const graph = graphOf(runs)
    expect(graph.nodes).toHaveLength(41)
    expect(graph.others).toBe(31)
    expect(graph.nodes.reduce((sum, { count }) => sum + count, 0)).toBe(20_000)
    expect(graph.edges.length).toBeLessThanOrEqual(120)
  })
})
