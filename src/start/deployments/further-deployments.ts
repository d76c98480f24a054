import type { ControlPlane } from '../../deploy/control-plane.ts'
import { hasDeployments } from '../../storage/sql/deployments/deployment-store.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import type { DataDisk } from '../../ingest/store/data-disk.ts'
import type { OwnDeployment } from '../own-deployment.ts'
import { createHosting, type Hosting } from './create-hosting.ts'
import type { AppOf } from './revision.ts'
import type { DeploymentParts } from './run-state.ts'
import { openSharedRuns, type SharedRuns } from './shared-runs.ts'

/** Inputs of the deployments of the control plane. */
export interface FurtherDeploymentsParts extends DeploymentParts {
  disk: DataDisk
  /** The SQL store, migrated. */
  database: Database
  /** The deployment of `GRAPHS`. */
  own: OwnDeployment | undefined
  /** When the deployment of `GRAPHS` was made, epoch milliseconds. */
  own_created_at: number
}

/** Deployments besides that of `GRAPHS`. Their stores are opened when the first of them is used. */
export interface FurtherDeployments {
  /** Called once, before the listeners are opened. */
  startHosting(appOf: AppOf): Hosting
  /** The control plane, which the first call opens. */
  controlPlane(): Promise<ControlPlane>
  /** Brings back the deployments of earlier starts. */
  restore(): Promise<void>
}

/** Hosting and control plane over what the server has opened. @throws AppError secrets_unreadable, isolation_unavailable */
export async function openFurtherDeployments(parts: FurtherDeploymentsParts): Promise<FurtherDeployments> {
  const { stops, own, database, config } = parts
  const isEmpty = !(await hasDeployments(database))
  if (!isEmpty) await (await import('./control-plane.ts')).assertSecretsReadable(parts)
  const { isolation: wanted } = config.deploy
  const isolation = once(async () => {
    const { openIsolation } = await import('../../deploy/isolation/isolation.ts')
    const { OWN_PACKAGES } = await import('../../graph/pool/process.ts')
    const { runs, dataDir } = config
    return openIsolation(wanted, { env: runs.environment, packages: OWN_PACKAGES, dataDir })
  })
  // A named isolation that does not work stops the start (P-23).
  if (wanted !== 'auto') await isolation()
  const hosting = Promise.withResolvers<Hosting>()
  const open = async (): Promise<ControlPlane> => {
    const { openControlPlane } = await import('./control-plane.ts')
    const ofServer = own && {
      ...{ id: own.tenant.deployment_id, workspace_id: own.tenant.workspace_id, name: own.name },
      created_at: parts.own_created_at,
    }
    return await openControlPlane({
      ...{ ...parts, hosting: await hosting.promise, own: ofServer, stops: ends },
      isolation: await isolation(),
    })
  }
  const ends: DeploymentParts['stops'] = []
  let opened: Promise<ControlPlane> | undefined
  const controlPlane = (): Promise<ControlPlane> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    controlPlane,
    startHosting(appOf) {
      const { startMs, drainMs } = config.runs
      const times = { start: startMs, drain: drainMs }
      const made = createHosting({ ...parts, times, isolation, ...sharedOf(parts) }, appOf)
      stops.push(() => made.stop())
      stops.push(() => endAll(ends))
      hosting.resolve(made)
      return made
    },
    async restore() {
      if (!isEmpty) await controlPlane()
    },
  }
}

/**
 * Stores that all deployments share. They are those of the deployment of `GRAPHS` if there is one, otherwise
 * they are opened at the first use.
 */
function sharedOf(parts: FurtherDeploymentsParts): {
  shared(): Promise<SharedRuns>
  settle(): Promise<void>
} {
  const { own, stops } = parts
  if (own !== undefined) return { shared: async () => own.shared, settle: own.shared.working.settle }
  const late: DeploymentParts['stops'] = []
  stops.push(() => endAll(late))
  let opened: Promise<SharedRuns> | undefined
  return {
    shared() {
      opened ??= openSharedRuns({ ...parts, stops: late }).catch(async (error: unknown) => {
        opened = undefined
        await endAll(late)
        throw error
      })
      return opened
    },
    settle: async () => (await opened)?.working.settle(),
  }
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => (opened ??= open())
}

async function endAll(stops: DeploymentParts['stops']): Promise<void> {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
}
