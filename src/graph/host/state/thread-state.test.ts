import type { StateSnapshot } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { threadStateText } from './thread-state.ts'

function snapshot(change: Partial<StateSnapshot>): StateSnapshot {
  const configurable = { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c' }
  return { values: {}, next: [], tasks: [], config: { configurable }, ...change }
}

describe('threadStateText', () => {
  it('shows only thread and namespace of the subgraph of a task', () => {
    const task = {
      id: '1',
      name: 'inner',
      path: ['__pregel_pull', 'inner'] as [string, string],
      interrupts: [],
    }
    const state = { configurable: { thread_id: 't', checkpoint_ns: 'inner:1' } }
    expect(JSON.parse(threadStateText(snapshot({ next: ['inner'], tasks: [{ ...task, state }] })))).toEqual({
      values: {},
      next: ['inner'],
      tasks: [
        {
          ...task,
          error: null,
          checkpoint: { thread_id: 't', checkpoint_ns: 'inner:1' },
          state: null,
          result: null,
        },
      ],
      checkpoint: { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c', checkpoint_map: null },
      metadata: null,
      created_at: null,
      parent_checkpoint: null,
      interrupts: [],
    })
  })
})
