import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { RunStore } from '../../runs/run-store.ts'
import { RUN_VERSION } from '../../runs/state.ts'
import { GRAPHS_KEPT_MS, type ServerRegistry } from '../../storage/sql/server-registry.ts'

export interface NewerRunsParts {
  store: Pick<RunStore, 'waitingVersions'>
  /** The other servers; undefined if there are none. */
  servers: Pick<ServerRegistry, 'runVersion'> | undefined
  clock: Clock
  logger: Logger
  /**
   * Called after each check in which runs are given up: the runs that have waited for ten minutes can be claimed then.
   */
  changed(): void
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
  everyMs?: number
}

const EVERY_MS = 60_000

/**
 * Watches for runs that need a later release than any server has. Logs each version of such runs once. If no server has
 * had the version ten minutes later, its runs are given up, like runs of abandoned graphs. Without other servers no
 * further such runs can be added, so the watch ends once there are none. Returns a function that returns the version
 * above which runs are given up; undefined if none are.
 */
export function watchNewerRuns({
  store,
  servers,
  clock,
  logger,
  changed,
  stops,
  everyMs = EVERY_MS,
}: NewerRunsParts): () => number | undefined {
  /** Time at which each version was first found, epoch milliseconds. */
  const found = new Map<number, number>()
  let above: number | undefined
  const look = async (): Promise<void> => {
    const waiting = await store.waitingVersions(RUN_VERSION)
    if (waiting.length === 0 && servers === undefined) clearInterval(timer)
    const theirs = waiting.length === 0 ? undefined : await servers?.runVersion()
    const known = Math.max(RUN_VERSION, theirs ?? RUN_VERSION)
    const unknown = waiting.filter((version) => version > known)
    for (const version of found.keys()) if (!unknown.includes(version)) found.delete(version)
    const now = clock.now()
    for (const version of unknown)
      if (!found.has(version)) {
        found.set(version, now)
        const facts = { needs_version: version, run_version: known }
        logger.warn(
          facts,
          'runs wait for a later release of Weir: without one they will fail ten minutes from now, or after they are due',
        )
      }
    above = [...found.values()].some((since) => now - since >= GRAPHS_KEPT_MS) ? known : undefined
    if (above !== undefined) changed()
  }
  const timer = setInterval(() => {
    look().catch((error: unknown) => logger.debug({ err: error }, 'waiting runs could not be read'))
  }, everyMs).unref()
  stops.defer(() => clearInterval(timer))
  return () => above
}
