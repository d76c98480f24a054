import { describe, expect, it } from 'vitest'
import { branchesOf } from './branches.ts'
import type { ThreadStep } from './step.ts'

function stepOf(id: string, parent: string | null, tasks: string[] = [], source = 'loop'): ThreadStep {
  return {
    checkpoint: { checkpoint_id: id },
    parent_checkpoint: parent === null ? null : { checkpoint_id: parent },
    metadata: { source },
    created_at: '',
    next: tasks,
    tasks: tasks.map((name) => ({ id: name, name, error: null, interrupts: [] })),
    values_bytes: 0,
  }
}

describe('the branches of a thread', () => {
  it('put a second child of a checkpoint into a lane of its own, with what follows it', () => {
    const steps = [
      stepOf('e', 'd'),
      stepOf('d', 'a', ['fork'], 'update'),
      stepOf('c', 'b'),
      stepOf('b', 'a', ['one', 'two']),
      stepOf('a', null, ['first']),
    ]
    const rows = branchesOf(steps)
    expect(rows.map(({ step, lane, isFork }) => [step.checkpoint.checkpoint_id, lane, isFork])).toEqual([
      ['e', 1, false],
      ['d', 1, true],
      ['c', 0, false],
      ['b', 0, false],
      ['a', 0, false],
    ])
  })

  it('#207 name all nodes that ran side by side, also those that wrote nothing', () => {
    const [after] = branchesOf([stepOf('b', 'a'), stepOf('a', null, ['one', 'two'])])
    expect(after?.ran).toEqual(['one', 'two'])
  })

  it('begin at the oldest checkpoint that was read', () => {
    expect(branchesOf([stepOf('z', 'unread')])).toMatchObject([{ lane: 0, isFork: false }])
  })
})
