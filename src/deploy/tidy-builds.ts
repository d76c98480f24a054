import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Artifacts } from './artifacts.ts'
import { artifactPath } from './build/packed-artifact.ts'
import type { DeploymentHosting } from './hosting.ts'
import type { Revision } from './model.ts'
import type { DeploymentStore } from './stores/deployment-store.ts'
import type { SharedFiles } from './stores/shared-files.ts'

export interface TidyingParts {
  store: Pick<DeploymentStore, 'isBusy' | 'newestOfArtifacts' | 'revisions' | 'revision'>
  artifacts: Pick<Artifacts, 'discard' | 'prune'>
  /** Files that servers share; undefined: there is one server. */
  files: Pick<SharedFiles, 'prune'> | undefined
  hosting: Pick<DeploymentHosting, 'status'>
  logger: Logger
}

const DAY_MS = 86_400_000
/** Number of artifacts that are kept (P-22), besides those of active and draining revisions. */
const KEPT_ARTIFACTS = 5

/**
 * Returns the function that removes the sources and builds which no revision of a deployment needs any more (P-22). It
 * is called when a revision has ended. It removes nothing while another revision is worked on, because the row of that
 * revision may not name its build yet. The end of that revision calls the function again.
 */
export function createTidying(parts: TidyingParts): (revision: Revision) => Promise<void> {
  return (revision) =>
    tidy(parts, revision).catch((error: unknown) =>
      parts.logger.warn({ err: error }, 'old artifacts were not removed'),
    )
}

async function tidy(
  { store, artifacts, files, hosting }: TidyingParts,
  { id, deployment_id }: Revision,
): Promise<void> {
  await artifacts.discard(id)
  if (await store.isBusy(deployment_id)) return
  const limit = KEPT_ARTIFACTS
  // Builds that never served must not displace those that did.
  const built = await store.newestOfArtifacts(deployment_id, { limit })
  const deployed = await store.newestOfArtifacts(deployment_id, { limit, status: 'DEPLOYED' })
  // The newest revisions are kept too, because their sources may be needed for a build.
  const recent = await store.revisions(deployment_id, { limit, offset: 0 })
  const { draining = [], active } = hosting.status(deployment_id) ?? {}
  const served = [active, ...draining].flatMap((one) => one?.revision_id ?? [])
  const used = await Promise.all(served.map((one) => store.revision(deployment_id, one)))
  const kept = [...built, ...deployed, ...recent, ...used.flatMap((one) => one ?? [])]
  await artifacts.prune(deployment_id, kept, systemClock.now())
  await files?.prune(deployment_id, new Set(kept.flatMap(sharedPaths)), systemClock.now() - DAY_MS)
}

/** Returns the paths of a revision's files among the files that servers share. */
function sharedPaths({ deployment_id, source_path, artifact_sha256 }: Revision): string[] {
  const artifact = artifact_sha256 === null ? [] : [artifactPath({ deployment_id, artifact_sha256 })]
  return source_path === null ? artifact : [source_path, ...artifact]
}
