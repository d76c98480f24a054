import { pause } from '../base/pause.ts'
import type { DeploymentLog } from './log-writer.ts'
import type { DeploymentLogStore, LogLine, LogQuery } from './stores/log-lines.ts'

/** The lines to follow. `limit`: number of the newest lines that are sent first, unless `after_us` is set. */
export type FollowQuery = Omit<LogQuery, 'order' | 'to_us'>

/** New lines, oldest first; the first part may have none. */
export interface FollowedLines {
  lines: LogLine[]
  /** `after_us` of a query that continues after this part. */
  cursor: number
}

export interface FollowParts {
  store: Pick<DeploymentLogStore, 'newest' | 'read'>
  log: Pick<DeploymentLog, 'listen'>
  /** Whether the deployment still exists. */
  isThere(): Promise<boolean>
}

/** Pause after each part, so that a graph that prints a lot costs only four reads a second. */
const PART_MS = 250
/** Maximum time between two reads: other servers of the same store write lines too, without notifying this server. */
const LOOK_MS = 2_000
const PAGE = 1_000

/** Yields each line of a log once, as it is stored, until the signal aborts or the deployment is deleted. */
export async function* followLog(
  { store, log, isThere }: FollowParts,
  deployment_id: string,
  query: FollowQuery,
  signal: AbortSignal,
): AsyncGenerator<FollowedLines> {
  let wake = Promise.withResolvers<void>()
  const leave = log.listen(deployment_id, () => wake.resolve())
  try {
    let cursor = query.after_us ?? (await store.newest(deployment_id))
    const { after_us } = query
    const lines =
      after_us === undefined
        ? await store.read(deployment_id, { ...query, order: 'desc', to_us: cursor })
        : []
    yield { lines: lines.toReversed(), cursor }
    while (!signal.aborted && (await isThere())) {
      wake = Promise.withResolvers()
      const newest = await store.newest(deployment_id)
      if (newest <= cursor) {
        await Promise.race([wake.promise, pause(LOOK_MS, signal)])
        continue
      }
      // Reads up to `newest`. The cursor then moves to `newest`, so that lines which the query leaves out are read only
      // once.
      const page = { ...query, order: 'asc', limit: PAGE, after_us: cursor, to_us: newest } as const
      const come = await store.read(deployment_id, page)
      cursor = come.length < PAGE ? newest : (come.at(-1)?.at_us ?? newest)
      if (come.length > 0) yield { lines: come, cursor }
      await pause(PART_MS, signal)
    }
  } finally {
    leave()
  }
}
