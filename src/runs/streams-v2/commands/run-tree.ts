import type { JsonObject } from '../../../schema/json.ts'
import type { ProtocolEvent } from '../protocol-event.ts'

/** A graph of a run, its nodes and its subgraphs, as `agent.getTree` returns them. */
interface Branch {
  namespace: readonly string[]
  status: string
  graph_name: string
  children: Branch[]
}

/**
 * The tree of a run, from its events of channel `lifecycle` in order: `{namespace, status, graph_name, children?}`.
 * Undefined if no event is about the root. Children are sorted by name.
 */
export function treeOf(events: readonly ProtocolEvent[]): JsonObject | undefined {
  const branches = new Map<string, Branch>()
  for (const { namespace, data } of events) {
    const { event, graph_name } = JSON.parse(data) as { event: string; graph_name: string }
    const status = event === 'started' ? 'running' : event
    const key = namespace.join('|')
    const known = branches.get(key)
    if (known !== undefined) {
      known.status = status
      continue
    }
    const branch = { namespace, status, graph_name, children: [] }
    branches.set(key, branch)
    parentOf(branches, namespace)?.children.push(branch)
  }
  const root = branches.get('')
  return root && jsonOf(root)
}

/** The nearest known branch above a namespace: a graph in between may have sent no event. */
function parentOf(branches: ReadonlyMap<string, Branch>, namespace: readonly string[]): Branch | undefined {
  for (let depth = namespace.length - 1; depth >= 0; depth--) {
    const found = branches.get(namespace.slice(0, depth).join('|'))
    if (found !== undefined) return found
  }
  return undefined
}

function jsonOf({ namespace, status, graph_name, children }: Branch): JsonObject {
  const sorted = children.toSorted((a, b) => (a.namespace.join('|') < b.namespace.join('|') ? -1 : 1))
  return {
    namespace: [...namespace],
    status,
    graph_name,
    ...(sorted.length > 0 && { children: sorted.map(jsonOf) }),
  }
}
