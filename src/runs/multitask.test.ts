import { describe, expect, it } from 'vitest'
import { MULTITASK_STRATEGIES, type MultitaskStrategy } from './model.ts'
import { type ActiveRun, decideMultitask, type MultitaskDecision } from './multitask.ts'

const NOW = 1000
const running: ActiveRun = { run_id: 'r', status: 'running', due_at: 0 }
const due: ActiveRun = { run_id: 'd', status: 'pending', due_at: NOW }
const delayed: ActiveRun = { run_id: 'l', status: 'pending', due_at: NOW + 1 }

const SITUATIONS = {
  nothing: [],
  running: [running],
  due: [due],
  delayed: [delayed],
  'running, due': [running, due],
  'running, delayed': [running, delayed],
  'due, delayed': [due, delayed],
  all: [running, due, delayed],
}
type Situation = keyof typeof SITUATIONS

function waits(free: boolean): MultitaskDecision {
  return { kind: 'admitted', action: null, ending: [], stopping: [], free }
}
const refused: MultitaskDecision = { kind: 'refused' }

function cancels(action: 'interrupt' | 'rollback'): Record<Situation, MultitaskDecision> {
  const decision = (ending: string[], stopping: string[]): MultitaskDecision => ({
    kind: 'admitted',
    action,
    ending,
    stopping,
    free: stopping.length === 0,
  })
  return {
    nothing: decision([], []),
    running: decision([], ['r']),
    due: decision(['d'], []),
    delayed: decision(['l'], []),
    'running, due': decision(['d'], ['r']),
    'running, delayed': decision(['l'], ['r']),
    'due, delayed': decision(['d', 'l'], []),
    all: decision(['d', 'l'], ['r']),
  }
}

const EXPECTED: Record<MultitaskStrategy, Record<Situation, MultitaskDecision>> = {
  reject: {
    nothing: waits(true),
    running: refused,
    due: refused,
    delayed: refused,
    'running, due': refused,
    'running, delayed': refused,
    'due, delayed': refused,
    all: refused,
  },
  enqueue: {
    nothing: waits(true),
    running: waits(false),
    due: waits(false),
    delayed: waits(true),
    'running, due': waits(false),
    'running, delayed': waits(false),
    'due, delayed': waits(false),
    all: waits(false),
  },
  interrupt: cancels('interrupt'),
  rollback: cancels('rollback'),
}

describe('decideMultitask', () => {
  const cells = MULTITASK_STRATEGIES.flatMap((strategy) =>
    (Object.keys(SITUATIONS) as Situation[]).map((situation) => [strategy, situation] as const),
  )
  it.each(cells)('%s, with %s', (strategy, situation) => {
    expect(decideMultitask(strategy, SITUATIONS[situation], NOW)).toEqual(EXPECTED[strategy][situation])
  })
})
