import { toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import type {
  ActivationOptions,
  ActivationReport,
  HostedDeployment,
  HostedRevision,
} from '../../deploy/hosting.ts'
import type { Isolation } from '../../deploy/isolation/isolation.ts'
import type { DeploymentParts } from '../run-state/run-state.ts'
import type { SharedRuns } from '../run-state/shared-runs.ts'
import { type DeploymentApis, type OpenRevision, openRevision } from './revision.ts'
import { ensureAssistants } from './serving.ts'

/** Time limits, in milliseconds. */
interface HostingTimes {
  /** DEPLOY_START_SECONDS. */
  start: number
  /** DEPLOY_DRAIN_SECONDS. */
  drain: number
}

/** A deployment, with the revision that serves and those that are being replaced. */
export interface HostedRevisions {
  deployment: HostedDeployment
  /** The reason why no revision is active yet. */
  reason: string
  active: OpenRevision | undefined
  draining: Set<OpenRevision>
  /** The end of the current activation, and of those that wait for it. */
  last: Promise<unknown>
}

/** Pause before a failed attempt to store the default assistants is repeated. */
const OUTAGE_PAUSE_MS = 1_000
/**
 * Time before the old hosts of a replaced revision are ended, because requests that began before the switch may still
 * call them.
 */
const REQUEST_GRACE_MS = 10_000

export interface Host extends DeploymentParts {
  times: HostingTimes
  /** The stores and services that all deployments share, which the first call opens. */
  shared(): Promise<SharedRuns>
  /** Ends or releases all runs, if the shared stores were opened; see `Working.settle`. */
  settle(): Promise<void>
  apis: DeploymentApis
  /** The isolation of hosts, which the first call opens. */
  isolation(): Promise<Isolation>
  /** Deployments by id. */
  known: Map<string, HostedRevisions>
  stopping: AbortController
}

/** Opens the revision, lets it serve in place of the one before, and ends that when its runs have ended. */
export async function switchRevision(
  host: Host,
  at: HostedRevisions,
  revision: HostedRevision,
  { log, printed, noted, mask, commit, signal }: ActivationOptions,
): Promise<ActivationReport> {
  const { stopping, times, logger } = host
  const shared = await host.shared()
  const { state, working } = shared
  const ends = AbortSignal.any([signal, stopping.signal, AbortSignal.timeout(times.start)])
  const old = at.active
  const wanted = { deployment: at.deployment, revision, isFirst: old === undefined }
  const opened = await openRevision(
    { ...host, shared, isolation: await host.isolation() },
    wanted,
    { log, printed, noted, mask, signal: ends },
    host.apis,
  )
  const { running, started_ms, checked_ms } = opened
  const graphs = running.host.graphs().map(({ graph_id }) => graph_id)
  await assertWanted(opened, commit?.({ graphs, started_ms, checked_ms }))
  await storeFacts({ ...host, shared }, opened)
  const draining_runs = old?.runs() ?? 0
  // The following steps are synchronous, so that requests, runs and crons use either the old revision or the
  // new one.
  state.served.set(at.deployment.id, opened.served)
  at.active = opened
  working.worker.look()
  log(`switched: ${draining_runs} runs end on the revision before`)
  if (old !== undefined) {
    drain({ ...host, shared }, at, old).catch((error: unknown) => logFailure(logger, error, at))
  }
  return { graphs, started_ms, checked_ms, draining_runs }
}

/** If a revision is no longer needed, or its state could not be stored, ends its hosts and rejects. */
async function assertWanted(opened: OpenRevision, committing: Promise<boolean> | undefined): Promise<void> {
  try {
    if ((await committing) === false)
      throw new DOMException('The revision is not wanted any more.', 'AbortError')
  } catch (error) {
    await opened.close()
    throw error
  }
}

/**
 * Stores the default assistants of a committed revision before it serves (P-32), and the deployment's name for reports
 * of usage. SQLite has them in another file than the revision, so one transaction cannot write both. They are therefore
 * stored after the commit, and again at each start of the revision. A revision that is not committed changes none of
 * them. A server that was killed between commit and storing stores them at its next start, before it serves. While the
 * store cannot be written, the previous revision continues to serve.
 */
async function storeFacts(
  { shared, stopping, logger }: Omit<Host, 'shared'> & { shared: SharedRuns },
  { running, close }: OpenRevision,
): Promise<void> {
  while (!stopping.signal.aborted) {
    try {
      return await ensureAssistants(shared.state, running)
    } catch (error) {
      const mayRetry = toAppError(error).retryable
      logger.warn(
        { err: error, deployment: running.name, retry: mayRetry },
        'default assistants could not be stored',
      )
      if (!mayRetry) return
      await pause(OUTAGE_PAUSE_MS, stopping.signal)
    }
  }
  await close()
  throw stopping.signal.reason
}

/**
 * Waits for the runs of a replaced revision, takes back the runs that are left after the time limit, and ends its
 * hosts.
 */
async function drain(
  { shared, times, stopping }: Omit<Host, 'shared'> & { shared: SharedRuns },
  from: HostedRevisions,
  old: OpenRevision,
): Promise<void> {
  from.draining.add(old)
  const { use } = shared.state
  const graceOver = pause(REQUEST_GRACE_MS, stopping.signal)
  await old.retire()
  await use.ended(old.served, AbortSignal.any([stopping.signal, AbortSignal.timeout(times.drain)]))
  shared.working.worker.handBack(old.served)
  await use.ended(old.served, stopping.signal)
  await graceOver
  await old.close()
  from.draining.delete(old)
}

function logFailure(logger: Logger, error: unknown, { deployment }: HostedRevisions): void {
  logger.error({ err: error, deployment: deployment.name }, 'a replaced revision could not be ended')
}
