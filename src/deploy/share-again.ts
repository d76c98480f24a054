import type { Logger } from '../base/log.ts'
import type { RevisionWork } from './revision-steps.ts'
import type { DeploymentStore } from './stores/deployment-store.ts'

/** Dependencies of sharing again. */
export interface ShareAgainParts {
  store: Pick<DeploymentStore, 'active'>
  work: Pick<RevisionWork, 'share'>
  logger: Logger
  /** Aborts when the server stops. */
  signal: AbortSignal
}

/**
 * Returns a function that stores the files of active revisions that this server has and the shared store lacks, because
 * the store failed when they were built, or has lost a part. Called at intervals; only one of overlapping calls does
 * the work.
 */
export function shareAgain({ store, work, logger, signal }: ShareAgainParts): () => Promise<void> {
  const shareAll = async (): Promise<void> => {
    for (const { deployment, revision } of await store.active())
      await work.share(deployment, revision, signal).catch((error: unknown) => {
        if (signal.aborted) return
        logger.warn(
          { err: error, deployment: deployment.name },
          'a build could not be stored for other servers',
        )
      })
  }
  let sharing: Promise<void> | undefined
  return () =>
    (sharing ??= shareAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'the active revisions could not be read'))
      .finally(() => (sharing = undefined)))
}
