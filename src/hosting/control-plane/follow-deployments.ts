import type { Artifacts } from '../../deploy/artifacts.ts'
import type { DeploymentHosting } from '../../deploy/hosting.ts'
import { hostedOf } from '../../deploy/revision-steps.ts'
import type { Revision } from '../../deploy/model.ts'
import type { DeploymentStore } from '../../deploy/stores/deployment-store.ts'
import type { RevisionWorker } from '../../deploy/work-on-revisions.ts'
import { type RestoreParts, startUntilServed } from './restore-deployments.ts'

export interface FollowServersParts extends RestoreParts {
  store: Pick<DeploymentStore, 'active' | 'inactive' | 'find'>
  hosting: Pick<DeploymentHosting, 'announce' | 'status' | 'known' | 'release'>
  artifacts: Pick<Artifacts, 'removeAll'>
  worker: Pick<RevisionWorker, 'works'>
  /** Called when a revision of another server serves here. */
  started(revision: Revision): void
}

/**
 * Returns a function that follows the other servers of one database (P-37): a call serves each revision that another
 * server has made active, and ends deployments that another server has deleted. All calls during a running call lead to
 * a single further call.
 */
export function followDeployments(parts: FollowServersParts): () => Promise<void> {
  const { store, hosting, artifacts, worker, logger, signal } = parts
  /** Ids of revisions that are being started. */
  const starting = new Set<string>()

  const follow = async (): Promise<void> => {
    for (const deployment of await store.inactive())
      if (hosting.status(deployment.id) === undefined)
        hosting.announce(hostedOf(deployment), 'No revision of it has started.')
    for (const one of await store.active()) {
      const { deployment, revision } = one
      const isServed = hosting.status(deployment.id)?.active?.revision_id === revision.id
      if (isServed || starting.has(revision.id) || worker.works(revision.id)) continue
      if (hosting.status(deployment.id) === undefined)
        hosting.announce(hostedOf(deployment), 'It is being started.')
      starting.add(revision.id)
      void startUntilServed(parts, one)
        .then(() => parts.started(revision))
        .finally(() => starting.delete(revision.id))
    }
    for (const { id } of hosting.known()) {
      if ((await store.find(id)) !== undefined) continue
      await hosting.release(id)
      await artifacts.removeAll(id)
    }
  }
  let following: Promise<void> | undefined
  let isAsked = false
  const run = async (): Promise<void> => {
    while (isAsked && !signal.aborted) {
      isAsked = false
      await follow().catch((error: unknown) =>
        logger.warn({ err: error }, 'deployments of other servers could not be followed'),
      )
    }
    following = undefined
  }
  return () => {
    isAsked = true
    return (following ??= run())
  }
}
