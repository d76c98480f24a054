import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import type { DeploymentHosting } from '../../deploy/hosting.ts'
import type { DeploymentLog } from '../../deploy/log-writer.ts'
import type { Revision, StoredDeployment } from '../../deploy/model.ts'
import { hostedOf, type RevisionWork } from '../../deploy/revision-steps.ts'
import type { DeploymentStore } from '../../deploy/stores/deployment-store.ts'

export interface RestoreParts {
  store: Pick<DeploymentStore, 'active' | 'inactive'>
  hosting: Pick<DeploymentHosting, 'announce' | 'status'>
  work: Pick<RevisionWork, 'activate'>
  log: Pick<DeploymentLog, 'write'>
  logger: Logger
  /** Aborts when the server stops. */
  signal: AbortSignal
  /** Time until a failed start is tried again; doubles with each failure. Default 10 s. */
  retry_ms?: number
  /** True if `followDeployments` runs too, which starts failed revisions again. */
  isFollowed?: boolean
}

interface Active {
  deployment: StoredDeployment
  revision: Revision
}

const STARTED_AT_ONCE = 4
const RETRY_MS = 10_000
const MAX_RETRY_MS = 300_000

/**
 * Starts every active revision again, without a build (P-36), and resolves when each was tried once. A revision that
 * cannot start does not affect others. It is tried again until it serves or another revision is the active one. If
 * `followDeployments` runs too, it makes these further tries.
 */
export async function restoreDeployments(parts: RestoreParts): Promise<void> {
  const { store, hosting, retry_ms = RETRY_MS, isFollowed = false } = parts
  for (const deployment of await store.inactive())
    hosting.announce(hostedOf(deployment), 'No revision of it has started.')
  const active = await store.active()
  for (const { deployment } of active) hosting.announce(hostedOf(deployment), 'It is being started.')
  const lane = async (): Promise<void> => {
    for (let next = active.shift(); next !== undefined; next = active.shift())
      if (!(await start(parts, next, retry_ms)) && !isFollowed) void startLater(parts, next, retry_ms)
  }
  await Promise.all(Array.from({ length: STARTED_AT_ONCE }, lane))
}

/** Starts a revision, and tries again until it serves or another revision is the active one. */
export async function startUntilServed(parts: RestoreParts, one: Active): Promise<void> {
  const { retry_ms = RETRY_MS } = parts
  if (!(await start(parts, one, retry_ms))) await startLater(parts, one, retry_ms)
}

/**
 * Starts a revision, and switches to it if it is still the active one: another may have become active while files were
 * fetched or hosts started. Returns false if the start failed, and logs it with the time until the next try.
 */
async function start(
  { store, work, hosting, log, logger, signal }: RestoreParts,
  { deployment, revision }: Active,
  wait_ms: number,
): Promise<boolean> {
  let isActive = true
  const commit = async (): Promise<boolean> => (isActive = (await findActive(store, revision)) !== undefined)
  try {
    await work.activate(deployment, revision, { signal, commit })
    return true
  } catch (error) {
    if (!isActive) return true
    if (signal.aborted) return false
    const reason = error instanceof Error ? error.message : String(error)
    const message = `${reason} The start is tried again in ${Math.ceil(wait_ms / 1000)} s.`
    hosting.announce(hostedOf(deployment), message)
    log.write(deployment.id, { revision_id: revision.id, kind: 'deploy', level: 'ERROR', message })
    logger.error({ err: error, deployment: deployment.name }, 'a deployment could not be started again')
    return false
  }
}

/** The revision and its deployment; undefined if another revision is the active one. */
async function findActive(
  store: RestoreParts['store'],
  { id }: Pick<Revision, 'id'>,
): Promise<Active | undefined> {
  return (await store.active()).find(({ revision }) => revision.id === id)
}

async function startLater(parts: RestoreParts, one: Active, retry_ms: number): Promise<void> {
  const { store, hosting, logger, signal } = parts
  for (let wait = retry_ms; ; ) {
    await pause(wait, signal)
    if (signal.aborted) return
    try {
      const active = await findActive(store, one.revision)
      const isServed = hosting.status(one.deployment.id)?.active?.revision_id === one.revision.id
      if (active === undefined || isServed) return
      wait = Math.min(2 * wait, MAX_RETRY_MS)
      if (await start(parts, active, wait)) return
    } catch (error) {
      logger.warn({ err: error }, 'the active revisions could not be read')
    }
  }
}
