import type { GraphAnswer, GraphCall } from '../../runs/execute/graph-host.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import { NEEDS_TYPES } from '../host/describe.ts'
import type { GraphHosts } from './pool.ts'
import type { TypeSchemas } from '../type-schemas/type-schemas.ts'

/**
 * Wraps the hosts. If a call for schemas needs TypeScript types that it does not contain, reads them and repeats the
 * call with them.
 */
export function withTypes(hosts: GraphHosts, types: TypeSchemas, begun: DeploymentFile): GraphHosts {
  let file = begun

  async function withTypesOf(
    tenant: Parameters<GraphHosts['call']>[0],
    call: Extract<GraphCall, { name: 'schemas' | 'subgraphs' }>,
  ): Promise<GraphAnswer> {
    const answer = await hosts.call(tenant, { ...call, types: null })
    if (answer.body !== NEEDS_TYPES) return answer
    const entry = file.graphs.find(({ graph_id }) => graph_id === call.graph_id)
    const text = entry === undefined ? 'null' : await types.read(entry, file.graphs)
    return hosts.call(tenant, { ...call, types: text })
  }

  return {
    graphs: () => hosts.graphs(),
    ready: () => hosts.ready(),
    run: (job, events, signal) => hosts.run(job, events, signal),
    call(tenant, call) {
      const isAboutTypes = call.name === 'schemas' || call.name === 'subgraphs'
      const hasNone = isAboutTypes && call.types === undefined
      return hasNone ? withTypesOf(tenant, call) : hosts.call(tenant, call)
    },
    embed: (texts) => hosts.embed(texts),
    pids: () => hosts.pids(),
    failures: () => hosts.failures(),
    reload(next) {
      file = next
      hosts.reload(next)
    },
    stop: () => hosts.stop(),
  }
}
