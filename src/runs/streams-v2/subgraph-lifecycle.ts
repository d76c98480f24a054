import { isObject, type JsonValue } from '../../schema/json.ts'

export interface SubgraphEvent {
  namespace: string[]
  event: 'started' | SubgraphEnd
  graph_name: string
}

export type SubgraphEnd = 'completed' | 'failed' | 'interrupted'

/**
 * Makes the lifecycle events of subgraphs from the entries of a run. Needed for runtimes that do not send these events,
 * such as LangGraph for Python (V-18).
 */
export interface SubgraphLifecycle {
  /** Returns the starts of subgraphs that an entry in this namespace shows. */
  begun(namespace: readonly string[]): SubgraphEvent[]
  /** Returns the ends of subgraphs that the result of a task shows: an entry of mode `tasks` in this namespace. */
  ended(namespace: readonly string[], data: string): SubgraphEvent[]
  /** Returns the ends of all open subgraphs at the end of the run. */
  end(event: SubgraphEnd): SubgraphEvent[]
}

export function createSubgraphLifecycle(): SubgraphLifecycle {
  /** Open subgraphs by namespace as text, in the order in which they began. */
  const open = new Map<string, string[]>()
  const known = new Set<string>()

  function close(isEnded: (key: string) => boolean, event: SubgraphEnd): SubgraphEvent[] {
    const ended = [...open].filter(([key]) => isEnded(key)).reverse()
    for (const [key] of ended) open.delete(key)
    return ended.map(([, namespace]) => ({ namespace, event, graph_name: nameOf(namespace) }))
  }

  return {
    begun(namespace) {
      const events: SubgraphEvent[] = []
      for (let length = 1; length <= namespace.length; length++) {
        const prefix = namespace.slice(0, length)
        const key = prefix.join('|')
        if (known.has(key)) continue
        known.add(key)
        open.set(key, prefix)
        events.push({ namespace: prefix, event: 'started', graph_name: nameOf(prefix) })
      }
      return events
    },
    ended(namespace, data) {
      if (open.size === 0) return []
      const task = JSON.parse(data) as JsonValue
      if (!isObject(task) || !('result' in task || 'error' in task)) return []
      const key = [...namespace, `${String(task['name'])}:${String(task['id'])}`].join('|')
      const { error = null, interrupts } = task
      const isAsking = Array.isArray(interrupts) && interrupts.length > 0
      const event = isAsking ? 'interrupted' : error === null ? 'completed' : 'failed'
      return close((other) => other === key || other.startsWith(`${key}|`), event)
    },
    end: (event) => close(() => true, event),
  }
}

function nameOf(namespace: readonly string[]): string {
  return (namespace.at(-1) ?? '').split(':', 1)[0] ?? ''
}
