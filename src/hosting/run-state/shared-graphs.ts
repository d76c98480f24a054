import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { RunStore } from '../../runs/run-store.ts'
import { GRAPHS_KEPT_MS, graphName, type ServerRegistry } from '../../storage/sql/server-registry.ts'

export interface SharedGraphsParts {
  deployment: { name: string; deployment_id: string }
  /** The graphs that this server has. */
  own(): readonly string[]
  servers: Pick<ServerRegistry, 'graphs'>
  store: Pick<RunStore, 'waitingGraphs'>
  clock: Clock
  logger: Logger
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
  everyMs?: number
}

/** The graphs of a deployment on several servers. Each server executes the runs of the graphs that it has. */
export interface SharedGraphs {
  /**
   * Ids of the graphs whose runs this server claims: the graphs of its `GRAPHS`, and abandoned graphs, whose runs end
   * with an error.
   */
  claimed(): readonly string[]
  /** Whether one of the servers has the graph. @throws AppError store_unavailable */
  has(graph_id: string): Promise<boolean>
}

const EVERY_MS = 60_000

/**
 * A graph is abandoned if a run has waited for it for ten minutes, and no server has had it in these ten minutes. A
 * restart takes less time. The ten minutes begin no earlier than the start of this server, since all servers may have
 * been down before.
 */
export function shareGraphs({
  deployment: { name, deployment_id },
  own,
  servers,
  store,
  clock,
  logger,
  stops,
  everyMs = EVERY_MS,
}: SharedGraphsParts): SharedGraphs {
  let abandoned: readonly string[] = []
  const since = clock.now()
  const look = async (): Promise<void> => {
    if (clock.now() - since < GRAPHS_KEPT_MS) return
    const waiting = await store.waitingGraphs(deployment_id, clock.now() - GRAPHS_KEPT_MS)
    const known = new Set(own())
    const others = waiting.some((graph) => !known.has(graph)) ? await servers.graphs() : new Set<string>()
    const found = waiting.filter((graph) => !known.has(graph) && !others.has(graphName(name, graph)))
    for (const graph of found)
      if (!abandoned.includes(graph))
        logger.warn(
          { graph },
          'no server has had this graph for ten minutes: runs that wait for it will fail',
        )
    abandoned = found
  }
  const timer = setInterval(() => {
    look().catch((error: unknown) => logger.debug({ err: error }, 'waiting graphs could not be read'))
  }, everyMs)
  stops.defer(() => clearInterval(timer))
  return {
    claimed: () => [...own(), ...abandoned],
    has: async (graph) => own().includes(graph) || (await servers.graphs()).has(graphName(name, graph)),
  }
}
