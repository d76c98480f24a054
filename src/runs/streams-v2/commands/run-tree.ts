import { type JsonObject, text } from '../../../schema/json.ts'
import type { Call } from '../../runs.ts'
import type { Threads } from '../../threads/threads.ts'
import type { ProtocolEvent } from '../protocol-event.ts'
import { keptEvents, type ReadDeps } from './kept-events.ts'
import { ifFound, Refused } from './refused.ts'

/** A graph of a run, its nodes and its subgraphs, as `agent.getTree` returns them. */
interface Branch {
  namespace: readonly string[]
  status: string
  graph_name: string
  children: Branch[]
}

/** Carries out `agent.getTree`, by default for the thread's last run. */
export async function runTree(
  deps: ReadDeps & { threads: Pick<Threads, 'get'> },
  call: Call,
  thread_id: string,
  { run_id }: JsonObject,
): Promise<JsonObject> {
  const thread = await ifFound(deps.threads.get(call, thread_id))
  const events = thread === undefined ? [] : await keptEvents(deps, call, thread_id, ['lifecycle'])
  const asked = text(run_id) ?? events.at(-1)?.run_id
  const tree = treeOf(events.filter((event) => event.run_id === asked))
  if (tree === undefined) throw new Refused('no_such_run', 'The thread has no events of such a run.')
  return tree
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

/**
 * The nearest known branch above a namespace. It need not be the direct parent, since a graph in between may have sent
 * no event.
 */
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
