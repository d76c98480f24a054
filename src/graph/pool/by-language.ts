import { AppError } from '../../base/errors.ts'
import type { DeploymentFile, GraphEntry } from '../project/deployment-file.ts'
import type { GraphLanguage } from '../project/graph-spec.ts'
import { embedsInPython, readStoreIndex } from '../project/store-index.ts'
import type { GraphHosts } from './pool.ts'

type CreatePool = (language: GraphLanguage, file: DeploymentFile) => GraphHosts

const LANGUAGES: readonly GraphLanguage[] = ['javascript', 'python']

/** The hosts of a deployment: one pool for each language that its graphs are written in (P-28). */
export function createHostsByLanguage(begun: DeploymentFile, createPool: CreatePool): GraphHosts {
  const pools = new Map<GraphLanguage, GraphHosts>()
  let file = begun

  function open(next: DeploymentFile): void {
    file = next
    for (const language of LANGUAGES) {
      const graphs = next.graphs.filter((graph) => graph.language === language)
      const pool = pools.get(language)
      if (graphs.length === 0) {
        pools.delete(language)
        void pool?.stop()
      } else if (pool === undefined) pools.set(language, createPool(language, { ...next, graphs }))
      else pool.reload({ ...next, graphs })
    }
  }

  function poolOf(graph_id: string): GraphHosts {
    const entry = file.graphs.find((graph) => graph.graph_id === graph_id)
    return poolFor(entry?.language)
  }

  /** The pool of a graph. For a graph that is no longer in the file, returns any pool, which then refuses the graph. */
  function poolFor(language: GraphEntry['language'] | undefined): GraphHosts {
    const found = (language && pools.get(language)) ?? [...pools.values()][0]
    if (found === undefined) throw new AppError('host_unavailable')
    return found
  }

  open(begun)
  return {
    graphs() {
      const all = new Map(
        [...pools.values()].flatMap((pool) => pool.graphs()).map((one) => [one.graph_id, one]),
      )
      return file.graphs.flatMap(({ graph_id }) => all.get(graph_id) ?? [])
    },
    async ready() {
      await Promise.all([...pools.values()].map((pool) => pool.ready()))
    },
    run: (job, events, signal) => poolOf(job.run.graph_id).run(job, events, signal),
    call: async (tenant, call) => poolOf(call.graph_id).call(tenant, call),
    async embed(texts) {
      const isPython = embedsInPython(readStoreIndex(file.store_index))
      return poolFor(isPython ? 'python' : 'javascript').embed(texts)
    },
    pids: () => [...pools.values()].flatMap((pool) => pool.pids()),
    failures: () => [...pools.values()].flatMap((pool) => pool.failures()),
    reload: open,
    async stop() {
      await Promise.all([...pools.values()].map((pool) => pool.stop()))
    },
  }
}
