import { AppError, toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import type {
  ActivationOptions,
  ActivationReport,
  DeploymentHosting,
  HostedDeployment,
  HostedRevision,
  HostingRevision,
  HostingStatus,
  RemovalReport,
  Unserved,
} from '../../deploy/hosting.ts'
import { hostedOf } from '../../deploy/revision-steps.ts'
import type { StoredDeployment } from '../../deploy/model.ts'
import type { Isolation } from '../../deploy/isolation/isolation.ts'
import { residentBytesOf } from '../../graph/pool/watch/memory-watch.ts'
import { eraseDeployment } from '../../storage/sql/erase-deployment.ts'
import { type DeploymentApis, type OpenRevision, openRevision } from './revision.ts'
import { ensureAssistants, type RunningDeployment } from './serving.ts'
import type { DeploymentParts } from '../run-state/run-state.ts'
import type { SharedRuns } from '../run-state/shared-runs.ts'

/** Time limits, in milliseconds. */
export interface HostingTimes {
  /** DEPLOY_START_SECONDS. */
  start: number
  /** DEPLOY_DRAIN_SECONDS. */
  drain: number
}

/** The deployments that the server runs. */
export interface Hosting extends DeploymentHosting {
  /** The deployment, or the reason why it is currently not served; undefined if there is none of this name. */
  find(name: string): RunningDeployment | Unserved | undefined
  /** Stops claiming runs of all deployments, and ends or releases those that are being executed. */
  settle(): Promise<void>
  /** Ends all deployments, after their runs were settled. */
  stop(): Promise<void>
}

interface Known {
  deployment: HostedDeployment
  /** The reason why no revision is active yet. */
  reason: string
  active: OpenRevision | undefined
  draining: Set<OpenRevision>
  /** The end of the current activation, and of those that wait for it. */
  last: Promise<unknown>
}

/** Time for which a removal waits for cancelled runs (P-4). */
const CANCEL_MS = 10_000
/** Pause before a failed attempt to store the default assistants is repeated. */
const OUTAGE_PAUSE_MS = 1_000
/**
 * Time before the old hosts of a replaced revision are ended, because requests that began before the switch may still
 * call them.
 */
const REQUEST_GRACE_MS = 10_000

interface Host extends DeploymentParts {
  times: HostingTimes
  /** The stores and services that all deployments share, which the first call opens. */
  shared(): Promise<SharedRuns>
  /** Ends or releases all runs, if the shared stores were opened; see `Working.settle`. */
  settle(): Promise<void>
  apis: DeploymentApis
  /** The isolation of hosts, which the first call opens. */
  isolation(): Promise<Isolation>
  /** Deployments by id. */
  known: Map<string, Known>
  stopping: AbortController
}

/**
 * Runs deployments. `apis` is asked for an API at each activation. The deployment of `GRAPHS`, which is open before,
 * serves from the start.
 */
export function createHosting(
  parts: DeploymentParts & Pick<Host, 'times' | 'shared' | 'settle' | 'isolation'>,
  apis: DeploymentApis,
  graphs: { deployment: StoredDeployment; open: OpenRevision } | undefined,
): Hosting {
  const known = new Map<string, Known>()
  const host: Host = { ...parts, apis, known, stopping: new AbortController() }
  if (graphs !== undefined) knownOf(host, hostedOf(graphs.deployment), '').active = graphs.open
  return {
    announce: (deployment, reason) => void Object.assign(knownOf(host, deployment, reason), { reason }),
    activate(deployment, revision, options) {
      const at = knownOf(host, deployment, 'Its first revision is being started.')
      const next = at.last.then(() => activate(host, at, revision, options))
      at.last = next.catch((error: unknown) => {
        at.reason = error instanceof Error ? error.message : String(error)
      })
      return next
    },
    remove: (deployment) => remove(host, deployment),
    release: (deployment_id) => release(host, { id: deployment_id }),
    known: () => [...known.values()].map(({ deployment }) => deployment),
    status: (deployment_id) => statusOf(known.get(deployment_id)),
    find(name) {
      const at = [...known.values()].find(({ deployment }) => deployment.name === name)
      if (at === undefined) return undefined
      if (at.active !== undefined) return at.active.running
      const message = `The deployment "${name}" is not ready: ${at.reason}`
      const { workspace_id } = at.deployment
      return { refusal: new AppError('deployment_not_ready', { message }), workspace_id }
    },
    settle: () => host.settle(),
    async stop() {
      host.stopping.abort(new AppError('shutting_down'))
      await Promise.all([...known.values()].map(async (at) => at.last.then(() => end(at))))
    },
  }
}

function knownOf({ known }: Host, deployment: HostedDeployment, reason: string): Known {
  const found = known.get(deployment.id)
  if (found !== undefined) return Object.assign(found, { deployment })
  const made: Known = {
    deployment,
    reason,
    active: undefined,
    draining: new Set(),
    last: Promise.resolve(),
  }
  known.set(deployment.id, made)
  return made
}

async function activate(
  host: Host,
  at: Known,
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
  from: Known,
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

const end = (at: Known): Promise<unknown> => Promise.all(allOf(at).map(({ close }) => close()))

async function remove(host: Host, deployment: HostedDeployment): Promise<RemovalReport> {
  const { id: deployment_id, workspace_id } = deployment
  const tenant = { workspace_id, deployment_id }
  let cancelled_runs = 0
  await release(host, deployment, async ({ working }) => {
    const cancelled = await working.worker.cancel(tenant, { status: 'all' }, 'interrupt')
    cancelled_runs = cancelled.length
  })
  const { state } = await host.shared()
  const erased = await eraseDeployment(state.database, state.store, tenant)
  return { cancelled_runs, erased }
}

/** Stops serving the deployment, and ends its hosts when its runs have ended; `cancel` ends the runs. */
async function release(
  { known, shared }: Host,
  { id: deployment_id }: Pick<HostedDeployment, 'id'>,
  cancel: (shared: SharedRuns) => Promise<void> = async () => undefined,
): Promise<void> {
  const at = known.get(deployment_id)
  known.delete(deployment_id)
  const opened = await shared()
  const { state, working } = opened
  await at?.last.catch(() => undefined)
  state.served.delete(deployment_id)
  await at?.active?.retire()
  await cancel(opened)
  const over = AbortSignal.timeout(CANCEL_MS)
  for (const { served } of allOf(at)) {
    await state.use.ended(served, over)
    working.worker.lose(served)
  }
  if (at !== undefined) await end(at)
}

/** The revisions that have processes. */
function allOf(at: Known | undefined): OpenRevision[] {
  if (at === undefined) return []
  return [...at.draining, ...(at.active === undefined ? [] : [at.active])]
}

function logFailure(logger: Logger, error: unknown, { deployment }: Known): void {
  logger.error({ err: error, deployment: deployment.name }, 'a replaced revision could not be ended')
}

function statusOf(at: Known | undefined): HostingStatus | undefined {
  if (at === undefined) return undefined
  const shown = (one: OpenRevision): HostingRevision => {
    const host_pids = one.running.host.pids()
    return {
      revision_id: one.revision.id,
      number: one.revision.number,
      runs: one.runs(),
      host_pids,
      memory_bytes: residentBytesOf(host_pids),
    }
  }
  const graphs = at.active?.running.host.graphs() ?? []
  return {
    active: at.active && shown(at.active),
    draining: [...at.draining].map(shown),
    refuses_studio: at.active?.refuses_studio ?? false,
    graphs: graphs.map(({ graph_id, language, unavailable }) => ({ graph_id, language, unavailable })),
  }
}
