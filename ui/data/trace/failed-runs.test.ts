import { describe, expect, it } from 'vitest'
import { buildTree } from '../tree.ts'
import { firstFailed, pathAbove } from './failed-runs.ts'

// agent: (step: (model, search), step: (deep: (deeper: (read))))
const tree = buildTree(Int32Array.from([-1, 0, 1, 1, 0, 4, 5, 6]))
const names = ['agent', 'step', 'model', 'search', 'again', 'deep', 'deeper', 'read']
const types = ['chain', 'chain', 'llm', 'tool', 'chain', 'chain', 'chain', 'tool']
const failing = (...failed: number[]) => ({
  names,
  types,
  statuses: names.map((_, at) => (failed.includes(at) ? 'error' : 'success')),
})

describe('failed runs of a trace', () => {
  it('the first is a tool, then a model call, then what failed above them', () => {
    expect(firstFailed(failing(0, 1, 2, 3), tree, 0)).toBe(3)
    expect(firstFailed(failing(0, 2), tree, 0)).toBe(2)
    expect(firstFailed(failing(0), tree, 0)).toBe(0)
    expect(firstFailed(failing(), tree, 0)).toBeUndefined()
  })

  it('the first below a run is not one beside it', () => {
    expect(firstFailed(failing(3, 7), tree, 4)).toBe(7)
    expect(firstFailed(failing(3), tree, 4)).toBeUndefined()
  })

  it('have a path, which leaves out the middle where it is long', () => {
    expect(pathAbove({ names }, tree, 0)).toBe('')
    expect(pathAbove({ names }, tree, 3)).toBe('agent › step')
    expect(pathAbove({ names }, tree, 7)).toBe('agent › again › deep › deeper')
    const deep = buildTree(Int32Array.from([-1, 0, 1, 2, 3, 4]))
    expect(pathAbove({ names }, deep, 5)).toBe('agent › … › model › search › again')
  })
})
