import { describe, expect, it } from 'vitest'
import { readOutline } from '../../../data/outline.ts'
import { buildTree } from '../../../data/tree.ts'
import { callOf, knownText, modelCalls, placeConversations } from './calls.ts'

// agent ─ a (llm), search (tool), critic ─ x (llm) ─ look (tool), b (llm)
const NAMES = ['agent', 'a', 'search', 'critic', 'x', 'look', 'b']
const TYPES = ['chain', 'llm', 'tool', 'chain', 'llm', 'tool', 'llm']
const PARENTS = [-1, 0, 0, 0, 3, 3, 0]

function outlineOf() {
  const outline = readOutline(
    JSON.stringify({
      trace_id: 't',
      version: '1',
      is_whole: true,
      is_truncated: false,
      run_count: NAMES.length,
      start_time: '2026-01-01T00:00:00.000000Z',
      totals: {},
      names: NAMES,
      run_types: TYPES,
      statuses: ['success'],
      models: [],
      columns: {
        id: NAMES,
        parent: PARENTS,
        name: NAMES.map((_, at) => at),
        run_type: TYPES.map((_, at) => at),
        status: NAMES.map(() => 0),
        model: NAMES.map(() => null),
        start: NAMES.map((_, at) => at * 10),
        duration: NAMES.map(() => 5),
        first_token: NAMES.map(() => null),
        tokens: NAMES.map(() => 0),
        checks: NAMES.map(() => null),
        cost: NAMES.map(() => null),
      },
    }),
  )
  if (outline === undefined) throw new Error('there is no outline')
  return { outline, tree: buildTree(outline.parents) }
}

describe('the conversations of a trace', () => {
  it('are those of its model calls by start', () => {
    const { outline, tree } = outlineOf()
    const names = modelCalls(outline, tree).map((position) => outline.names[tree.order[position] ?? 0])
    expect(names).toEqual(['a', 'x', 'b'])
  })

  it('are followed to the call of a selected run: its own, the first below it, or the last before it', () => {
    const { outline, tree } = outlineOf()
    const calls = modelCalls(outline, tree)
    const followed = NAMES.map((_, place) => callOf(tree.positions[place] ?? 0, calls, outline, tree))
    expect(NAMES.map((name, place) => [name, followed[place]])).toEqual([
      ['agent', 0],
      ['a', 0],
      ['search', 0],
      ['critic', 1],
      ['x', 1],
      ['look', 1],
      ['b', 2],
    ])
    expect(callOf(0, [], outline, tree)).toBe(-1)
  })

  it('stand under the run that holds all of their calls, with the tools that were called there', () => {
    const { outline, tree } = outlineOf()
    const step = (id: string) => ({ id, messages: [], known: 0 })
    const conversations = [{ steps: [step('a'), step('b')] }, { steps: [step('x')] }]
    const placed = placeConversations(conversations, outline, tree)
    const nameOf = (position: number): string | undefined => outline.names[tree.order[position] ?? 0]
    expect(placed.map(({ path }) => path)).toEqual([['agent'], ['agent', 'critic']])
    expect(placed.map(({ tools }) => [...tools].map(([id, all]) => [id, all.map(nameOf)]))).toEqual([
      [['a', ['search']]],
      [['x', ['look']]],
    ])
  })

  it('have the tools that were called after them, also when each model call begins a conversation of its own', () => {
    const { outline, tree } = outlineOf()
    const conversations = ['a', 'b', 'x'].map((id) => ({ steps: [{ id, messages: [], known: 0 }] }))
    const names = placeConversations(conversations, outline, tree).map(({ tools }) =>
      [...tools.values()].flat().map((position) => outline.names[tree.order[position] ?? 0]),
    )
    expect(names).toEqual([['search'], [], ['look']])
    const late = { ...outline, starts: outline.starts.map((start, place) => (place === 2 ? 65 : start)) }
    const moved = placeConversations(conversations, late, tree).map(({ tools }) => [...tools.keys()])
    expect(moved).toEqual([[], ['b'], ['x']])
  })

  it('say how many messages stand above', () => {
    expect([1, 3].map(knownText)).toEqual(['after the message above', 'after the 3 messages above'])
  })
})
