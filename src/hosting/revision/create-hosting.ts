import { AppError } from '../../base/errors.ts'
import type {
  DeploymentHosting,
  HostedDeployment,
  HostingRevision,
  HostingStatus,
  RemovalReport,
  Unserved,
} from '../../deploy/hosting.ts'
import { hostedOf } from '../../deploy/revision-steps.ts'
import type { StoredDeployment } from '../../deploy/model.ts'
import { residentBytesOf } from '../../graph/pool/watch/memory-watch.ts'
import { eraseDeployment } from '../../storage/sql/erase-deployment.ts'
import type { DeploymentApis, OpenRevision } from './revision.ts'
import type { RunningDeployment } from './serving.ts'
import { type Host, type HostedRevisions, switchRevision } from './switch-revision.ts'
import type { DeploymentParts } from '../run-state/run-state.ts'
import type { SharedRuns } from '../run-state/shared-runs.ts'

export interface Hosting extends DeploymentHosting {
  /** The deployment, or the reason why it is currently not served; undefined if there is none of this name. */
  find(name: string): RunningDeployment | Unserved | undefined
  /** Stops claiming runs of all deployments, and ends or releases those that are being executed. */
  settle(): Promise<void>
  /** Ends all deployments, after their runs were settled. */
  stop(): Promise<void>
}

/** Time for which a removal waits for cancelled runs (P-4). */
const CANCEL_MS = 10_000
/**
 * Runs deployments. `apis` is asked for an API at each activation. The deployment of `GRAPHS`, which is open before,
 * serves from the start.
 */
export function createHosting(
  parts: DeploymentParts & Pick<Host, 'times' | 'shared' | 'settle' | 'isolation'>,
  apis: DeploymentApis,
  graphs: { deployment: StoredDeployment; open: OpenRevision } | undefined,
): Hosting {
  const known = new Map<string, HostedRevisions>()
  const host: Host = { ...parts, apis, known, stopping: new AbortController() }
  if (graphs !== undefined) knownOf(host, hostedOf(graphs.deployment), '').active = graphs.open
  return {
    announce: (deployment, reason) => void Object.assign(knownOf(host, deployment, reason), { reason }),
    activate(deployment, revision, options) {
      const at = knownOf(host, deployment, 'Its first revision is being started.')
      const next = at.last.then(() => switchRevision(host, at, revision, options))
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

function knownOf({ known }: Host, deployment: HostedDeployment, reason: string): HostedRevisions {
  const found = known.get(deployment.id)
  if (found !== undefined) return Object.assign(found, { deployment })
  const made: HostedRevisions = {
    deployment,
    reason,
    active: undefined,
    draining: new Set(),
    last: Promise.resolve(),
  }
  known.set(deployment.id, made)
  return made
}

const end = (at: HostedRevisions): Promise<unknown> => Promise.all(allOf(at).map(({ close }) => close()))

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
function allOf(at: HostedRevisions | undefined): OpenRevision[] {
  if (at === undefined) return []
  return [...at.draining, ...(at.active === undefined ? [] : [at.active])]
}

function statusOf(at: HostedRevisions | undefined): HostingStatus | undefined {
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
