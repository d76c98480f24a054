import { describe, expect, it } from 'vitest'
import type { ListedRun } from '../run-pages.ts'
import { nodesOfStep, openNodesOf, pauseOf, tracedNodes } from './step-traces.ts'
import type { ThreadStep } from './step.ts'

const AT = Date.parse('2026-01-01T00:00:00.000Z')
const time = (ms: number): string => new Date(AT + ms).toISOString()

function child(step: unknown, node: unknown, fields: Partial<ListedRun> = {}): ListedRun {
  const metadata = { langgraph_step: step, langgraph_node: node }
  const run = { id: `${String(node)}-${String(step)}`, trace_id: 't', name: 'x', run_type: 'chain' }
  return { ...run, start_time: time(0), end_time: time(5), extra: { metadata }, ...fields }
}

function stepWith(step: number, tasks: ThreadStep['tasks'] = [], source = 'loop'): ThreadStep {
  return {
    checkpoint: { checkpoint_id: 'c' },
    parent_checkpoint: null,
    created_at: '',
    next: [],
    tasks,
    metadata: { source, step, run_id: 't' },
    values_bytes: 0,
  }
}

const asked = { id: '1', name: 'review', error: null, interrupts: [{ value: 'ok?' }] }
const failed = { id: '2', name: 'write', error: 'no', interrupts: [] }
const ended = { id: '3', name: 'other', error: null, interrupts: [] }

describe('the trace of a step', () => {
  const nodes = tracedNodes([
    // In lists, the values of metadata are texts.
    child('1', 'draft', { end_time: time(40) }),
    child('1', 'look', { start_time: time(10) }),
    child('2', 'review'),
    child('2', 'other'),
    child(undefined, undefined),
    child('no number', 'hook'),
  ])
  const trace = { nodes, isWhole: true }

  it('has the executions of its run with the number of the step, also those that ran side by side', () => {
    expect(nodes.map(({ id }) => id)).toEqual(['draft-1', 'look-1', 'review-2', 'other-2'])
    expect(nodesOfStep(trace, stepWith(1)).map(({ node }) => node)).toEqual(['draft', 'look'])
    expect(nodesOfStep(trace, stepWith(1, [], 'update'))).toEqual([])
  })

  it('has what failed or asked after it, which made no checkpoint', () => {
    expect(openNodesOf(trace, stepWith(1, [asked, ended])).map(({ node }) => node)).toEqual(['review'])
    expect(openNodesOf(trace, stepWith(1, [failed]))).toEqual([])
  })
})

it('a trace is read again each second, more seldom of a run that takes long, and no more when nothing of it is stored', () => {
  const nodes = tracedNodes([child(1, 'a')])
  expect(pauseOf({ nodes, isWhole: true }, 1)).toBe(false)
  expect([1, 299, 300, 9999].map((looks) => pauseOf({ nodes, isWhole: false }, looks))).toEqual([
    ...[1000, 1000],
    ...[30_000, 30_000],
  ])
  expect([1, 2, 50, 100].map((looks) => pauseOf({ nodes: [], isWhole: false }, looks))).toEqual([
    ...[1000, 2000],
    ...[30_000, false],
  ])
})
