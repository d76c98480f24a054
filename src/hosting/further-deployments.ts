import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import type { ControlPlane } from '../deploy/control-plane.ts'
import type { DeploymentFeed } from '../ingest/live/deployment-feed.ts'
import type { HostingStatus } from '../deploy/hosting.ts'
import { createDeploymentStore, hasDeployments } from '../storage/sql/deployments/deployment-store.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import type { StoreChecks } from '../base/background/store-checks.ts'
import type { BlobStore } from '../ingest/store/blob-store.ts'
import type { DataDisk } from '../ingest/store/data-disk.ts'
import type { OwnDeployment } from './own-deployment.ts'
import type { Isolation } from '../deploy/isolation/isolation.ts'
import { residentBytesOf } from '../graph/pool/watch/memory-watch.ts'
import { createHosting, type Hosting } from './revision/create-hosting.ts'
import type { DeploymentApis } from './revision/revision.ts'
import type { DeploymentParts } from './run-state/run-state.ts'
import type { DeploymentUsage } from '../storage/sql/runs/usage/deployment-usage.ts'
import { openSharedRuns, type SharedRuns } from './run-state/shared-runs.ts'

export interface FurtherDeploymentsParts extends DeploymentParts {
  disk: DataDisk
  blobs: BlobStore
  /** The SQL store, migrated. */
  database: Database
  /** The deployment of `GRAPHS`. */
  own: OwnDeployment | undefined
  /** Creation time of the deployment of `GRAPHS`, epoch milliseconds. */
  own_created_at: number
  deploymentFeed: Pick<DeploymentFeed, 'publish'>
}

/** Deployments besides that of `GRAPHS`. Their stores are opened when the first of these deployments is used. */
export interface FurtherDeployments {
  /** Called once, before the listeners are opened. */
  startHosting(apis: DeploymentApis): Hosting
  /** The control plane, which the first call opens. */
  controlPlane(): Promise<ControlPlane>
  /** The usage of all deployments. A read opens their stores. */
  usage: Pick<DeploymentUsage, 'count' | 'names'>
  /** Starts the deployments of earlier starts again. */
  restore(): Promise<void>
  /** Checks of their stores, if the deployment of `GRAPHS` does not have the same ones. */
  checks: StoreChecks
}

/**
 * Opens hosting and control plane with the stores that the server has opened.
 * @throws AppError config_invalid, secrets_unreadable, isolation_unavailable
 */
export async function openFurtherDeployments(parts: FurtherDeploymentsParts): Promise<FurtherDeployments> {
  const { stops, own, database, config } = parts
  const isEmpty = !(await hasDeployments(database))
  if (!isEmpty && own !== undefined) await assertOwnName(database, own)
  if (!isEmpty) await (await import('./control-plane/control-plane.ts')).assertSecretsReadable(parts)
  const isolation = isolationOf(config)
  // The start fails if the named isolation does not work (P-23).
  if (config.deploy.runtime === 'process' && config.deploy.isolation !== 'auto') await isolation()
  const hosting = Promise.withResolvers<Hosting>()
  const open = async (): Promise<ControlPlane> => {
    const { openControlPlane } = await import('./control-plane/control-plane.ts')
    const ofServer = own && {
      id: own.tenant.deployment_id,
      workspace_id: own.tenant.workspace_id,
      name: own.name,
      created_at: parts.own_created_at,
      status: () => statusOf(own),
    }
    return await openControlPlane({
      ...parts,
      hosting: await hosting.promise,
      own: ofServer,
      stops: ends,
      isolation,
    })
  }
  const ends = new AsyncDisposableStack()
  let opened: Promise<ControlPlane> | undefined
  const shares = sharedOf(parts)
  const usage = async (): Promise<DeploymentUsage> => (await shares.shared()).state.usage
  const controlPlane = (): Promise<ControlPlane> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    controlPlane,
    usage: {
      count: async (query) => (await usage()).count(query),
      names: async (workspace_ids) => (await usage()).names(workspace_ids),
    },
    startHosting(apis) {
      const { startMs, drainMs } = config.runs
      const times = { start: startMs, drain: drainMs }
      const made = createHosting({ ...parts, times, isolation, ...shares }, apis)
      stops.defer(() => made.stop())
      stops.defer(() => ends.disposeAsync())
      hosting.resolve(made)
      return made
    },
    checks:
      parts.own !== undefined || config.redisUrl === undefined
        ? {}
        : { redis: async () => (await shares.opened())?.checks['redis']?.() },
    async restore() {
      // Another server may create deployments (P-37).
      const isShared = config.databaseUrl !== undefined && config.blobUrl !== undefined
      if (!isEmpty || isShared) await controlPlane()
    },
  }
}

/**
 * Checks that no other deployment has the name of the deployment of `GRAPHS`, which would hide it at the same path
 * (P-1).
 * @throws AppError config_invalid
 */
async function assertOwnName(database: Database, { name }: Pick<OwnDeployment, 'name'>): Promise<void> {
  if ((await createDeploymentStore(database, systemClock).named(name)) === undefined) return
  const message = `The deployment of GRAPHS has the name "${name}", and so has one that was deployed to this server: set DEPLOYMENT_NAME to another name, or start once without GRAPHS to delete that one.`
  throw new AppError('config_invalid', { message })
}

/** The state of the deployment of `GRAPHS`. It has no revisions, so its files are reported as one. */
function statusOf({ tenant, host, shared, userAuth }: OwnDeployment): HostingStatus {
  const served = shared.state.served.get(tenant.deployment_id)
  const runs = served === undefined ? 0 : shared.working.worker.running(served)
  const graphs = host
    .graphs()
    .map(({ graph_id, language, unavailable }) => ({ graph_id, language, unavailable }))
  const host_pids = host.pids()
  const memory_bytes = residentBytesOf(host_pids)
  const active = { revision_id: '', number: 0, runs, host_pids, memory_bytes }
  return { active, draining: [], graphs, refuses_studio: userAuth?.studio === false }
}

/**
 * Stores that all deployments share: those of the deployment of `GRAPHS` if there is one; otherwise the first use opens
 * them.
 */
function sharedOf(parts: FurtherDeploymentsParts): {
  shared(): Promise<SharedRuns>
  /** Undefined before the first use. */
  opened(): Promise<SharedRuns> | undefined
  settle(): Promise<void>
} {
  const { own, stops } = parts
  if (own !== undefined)
    return { shared: async () => own.shared, opened: () => undefined, settle: own.shared.working.settle }
  let late = new AsyncDisposableStack()
  stops.defer(() => late.disposeAsync())
  let opened: Promise<SharedRuns> | undefined
  return {
    shared() {
      opened ??= openSharedRuns({ ...parts, stops: late }).catch(async (error: unknown) => {
        const failed = late
        late = new AsyncDisposableStack()
        opened = undefined
        await failed.disposeAsync()
        throw error
      })
      return opened
    },
    opened: () => opened,
    settle: async () => (await opened)?.working.settle(),
  }
}

/**
 * Returns a function that opens the isolation of DEPLOY_RUNTIME and DEPLOY_ISOLATION once; containers that do not work
 * are tried again.
 */
function isolationOf({ deploy, runs, dataDir }: FurtherDeploymentsParts['config']): () => Promise<Isolation> {
  const open = async (): Promise<Isolation> => {
    const { openContainerIsolation, openIsolation } = await import('../deploy/isolation/isolation.ts')
    const { OWN_PACKAGES } = await import('../graph/pool/process.ts')
    const options = { env: runs.environment, packages: OWN_PACKAGES, dataDir }
    return deploy.runtime === 'container'
      ? await openContainerIsolation({ ...options, command: deploy.containerCommand })
      : await openIsolation(deploy.isolation, options)
  }
  let opened: Promise<Isolation> | undefined
  return () =>
    (opened ??= open().then((isolation) => {
      if (isolation.name === 'container' && isolation.reason !== null) opened = undefined
      return isolation
    }))
}
