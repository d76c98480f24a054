import { describe, expect, it } from 'vitest'
import type { ProtocolEvent } from '../protocol-event.ts'
import { treeOf } from './run-tree.ts'

function told(namespace: string[], event: string): ProtocolEvent {
  const graph_name = namespace.at(-1)?.split(':')[0] ?? 'root'
  const data = JSON.stringify({ event, graph_name })
  return { id: '1-0', run_id: 'r', event_id: 'e', seq: 1, timestamp: 0, method: 'lifecycle', namespace, data }
}

describe('the tree of a run (agent.getTree)', () => {
  it('has the last status of each graph, and children in order of their names', () => {
    const events = [
      told([], 'running'),
      told(['b:1'], 'started'),
      told(['b:1', 'deep:2'], 'started'),
      told(['b:1', 'deep:2'], 'completed'),
      told(['a:3'], 'started'),
      told(['b:1'], 'failed'),
    ]
    expect(treeOf(events)).toEqual({
      namespace: [],
      status: 'running',
      graph_name: 'root',
      children: [
        { namespace: ['a:3'], status: 'running', graph_name: 'a' },
        {
          namespace: ['b:1'],
          status: 'failed',
          graph_name: 'b',
          children: [{ namespace: ['b:1', 'deep:2'], status: 'completed', graph_name: 'deep' }],
        },
      ],
    })
  })

  it('is undefined for a run that has told nothing', () => {
    expect(treeOf([])).toBeUndefined()
  })
})
