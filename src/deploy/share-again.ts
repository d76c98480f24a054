import type { Logger } from '../base/log.ts'
import type { RevisionWork } from './revision-steps.ts'
import type { DeploymentStore } from './stores/deployment-store.ts'

export interface ShareAgainParts {
  store: Pick<DeploymentStore, 'active'>
  work: Pick<RevisionWork, 'share'>
  logger: Logger
  /** Aborts when the server stops. */
  signal: AbortSignal
}

/** Maximum number of calls from one try to the next. With a call every minute, this is half an hour. */
const MAX_WAIT = 30

/**
 * Returns a function that stores the files of active revisions which this server has and the shared store lacks: the
 * store failed when they were built, or it has lost a part of them. The function is called every minute. Each failure
 * doubles the number of calls until the next try, because a try packs whole builds. Only one of overlapping calls does
 * the work.
 */
export function shareAgain({ store, work, logger, signal }: ShareAgainParts): () => Promise<void> {
  /** Returns false if a build could not be stored. */
  const shareAll = async (): Promise<boolean> => {
    let isDone = true
    for (const { deployment, revision } of await store.active())
      await work.share(deployment, revision, signal).catch((error: unknown) => {
        isDone = false
        if (signal.aborted) return
        logger.warn(
          { err: error, deployment: deployment.name },
          'a build could not be stored for other servers',
        )
      })
    return isDone
  }
  /** Number of calls from the last try to the next one, and the number of those still to come. */
  let wait = 1
  let left = 1
  const tryAll = async (): Promise<void> => {
    if (--left > 0) return
    const isDone = await shareAll().catch((error: unknown) => {
      logger.warn({ err: error }, 'the active revisions could not be read')
      return true
    })
    wait = isDone ? 1 : Math.min(2 * wait, MAX_WAIT)
    left = wait
  }
  let sharing: Promise<void> | undefined
  return () => (sharing ??= tryAll().finally(() => (sharing = undefined)))
}
