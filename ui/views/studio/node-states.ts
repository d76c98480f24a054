import type { NodeState } from '../../parts/graph/node-state.ts'

/** An event of mode `tasks`: a task begins, or it ends with a result, an error or interrupts. */
export interface TaskEvent {
  id: string
  name: string
  error?: unknown
  result?: unknown
  interrupts?: readonly unknown[]
}

/** The state of each node of a run, by its name. */
export interface NodeStates {
  /** `now` in milliseconds. */
  add(event: TaskEvent, namespace: readonly string[] | undefined, now: number): void
  clear(): void
  snapshot(): ReadonlyMap<string, NodeState>
}

/** The states of a run that has ended: a node that began and did not end has none. */
export function statesAtEnd(states: ReadonlyMap<string, NodeState>): ReadonlyMap<string, NodeState> {
  return new Map([...states].filter(([, { state }]) => state !== 'running'))
}

/** Nodes have the same names as in the graph, even nodes of subgraphs. */
export function createNodeStates(): NodeStates {
  const states = new Map<string, NodeState & { ms: number }>()
  const begun = new Map<string, number>()
  const begin = (name: string, id: string, now: number): void => {
    begun.set(id, now)
    const { count = 0, ms = 0, state, since } = states.get(name) ?? {}
    // Of several executions at the same time, the one that began first counts.
    const first = state === 'running' ? (since ?? now) : now
    states.set(name, { state: 'running', count: count + 1, ms, since: first })
  }
  return {
    add(event, _namespace, now) {
      const { id, name } = event
      const isEnd = 'result' in event || 'error' in event || 'interrupts' in event
      const isStart = 'triggers' in event || !isEnd
      if (isStart) {
        if (!begun.has(id)) begin(name, id, now)
        return
      }
      if (!begun.has(id)) begin(name, id, now)
      const { count = 1, ms = 0 } = states.get(name) ?? {}
      const isFailed = event.error !== undefined && event.error !== null
      const isOpen = (event.interrupts?.length ?? 0) > 0
      const state = isFailed ? 'error' : isOpen ? 'interrupted' : 'success'
      states.set(name, { state, count, ms: ms + now - (begun.get(id) ?? now) })
    },
    clear() {
      states.clear()
      begun.clear()
    },
    snapshot: () => new Map(states),
  }
}
