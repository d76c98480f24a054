import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import type { ControlPlane } from '../deploy/control-plane.ts'
import type { DeploymentFeed } from '../ingest/live/deployment-feed.ts'
import { createDeploymentStore, hasDeployments } from '../storage/sql/deployments/deployment-store.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import type { StoreChecks } from '../base/background/store-checks.ts'
import type { BlobStore } from '../ingest/store/blob-store.ts'
import type { DataDisk } from '../ingest/store/data-disk.ts'
import {
  type GraphsDeployment,
  type GraphsProject,
  openGraphsDeployment,
  readGraphsProject,
} from './graphs-deployment.ts'
import type { Isolation } from '../deploy/isolation/isolation.ts'
import { createHosting, type Hosting } from './revision/create-hosting.ts'
import type { DeploymentApis } from './revision/revision.ts'
import type { DeploymentParts } from './run-state/run-state.ts'
import type { DeploymentUsage } from '../storage/sql/runs/usage/deployment-usage.ts'
import { openRunStores, type SharedRuns, startSharedRuns } from './run-state/shared-runs.ts'

export interface DeploymentsParts extends DeploymentParts {
  disk: DataDisk
  blobs: BlobStore
  /** The SQL store, migrated. */
  database: Database
  /** Creation time of the deployment of `GRAPHS`, epoch milliseconds. */
  created_at: number
  deploymentFeed: Pick<DeploymentFeed, 'publish'>
}

/** All deployments of the server. Without `GRAPHS`, the first use of another deployment opens their stores. */
export interface Deployments {
  /** The deployment of `GRAPHS`; undefined if there is none. */
  graphs: GraphsDeployment | undefined
  /** Called once, before the listeners are opened. */
  startHosting(apis: DeploymentApis): Promise<Hosting>
  /** The control plane, which the first call opens. */
  controlPlane(): Promise<ControlPlane>
  /** The usage of all deployments. A read opens their stores. */
  usage: Pick<DeploymentUsage, 'count' | 'names'>
  /** Starts the deployments of earlier starts again. */
  restore(): Promise<void>
  checks: StoreChecks
}

/**
 * Opens the deployment of `GRAPHS`, and hosting and control plane with the stores that the server has opened.
 * @throws AppError config_invalid, secrets_unreadable, isolation_unavailable
 */
export async function openDeployments(parts: DeploymentsParts): Promise<Deployments> {
  const { stops, database, config } = parts
  const isEmpty = !(await hasDeployments(database))
  const project = await readGraphsProject(config)
  if (!isEmpty && project !== undefined) await assertFreeName(database, project)
  if (!isEmpty) await (await import('./control-plane/control-plane.ts')).assertSecretsReadable(parts)
  const isolation = isolationOf(config)
  // The start fails if the named isolation does not work (P-23).
  if (config.deploy.runtime === 'process' && config.deploy.isolation !== 'auto') await isolation()
  const graphs = project && (await openGraphsDeployment(parts, project))
  const hosting = Promise.withResolvers<Hosting>()
  const open = async (): Promise<ControlPlane> => {
    const { openControlPlane } = await import('./control-plane/control-plane.ts')
    return await openControlPlane({
      ...parts,
      hosting: await hosting.promise,
      graphs,
      stops: ends,
      isolation,
    })
  }
  const ends = new AsyncDisposableStack()
  let opened: Promise<ControlPlane> | undefined
  const shares = graphs === undefined ? sharedLater(parts) : sharedWith(graphs)
  const usage = async (): Promise<DeploymentUsage> => (await shares.shared()).state.usage
  const controlPlane = (): Promise<ControlPlane> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    graphs,
    controlPlane,
    usage: {
      count: async (query) => (await usage()).count(query),
      names: async (workspace_ids) => (await usage()).names(workspace_ids),
    },
    async startHosting(apis) {
      await graphs?.openApi(apis)
      const { startMs, drainMs } = config.runs
      const times = { start: startMs, drain: drainMs }
      const made = createHosting({ ...parts, times, isolation, ...shares }, apis, graphs)
      stops.defer(() => made.stop())
      stops.defer(() => ends.disposeAsync())
      hosting.resolve(made)
      return made
    },
    checks: shares.checks,
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
async function assertFreeName(database: Database, { name }: GraphsProject): Promise<void> {
  if ((await createDeploymentStore(database, systemClock).named(name)) === undefined) return
  const message = `The deployment of GRAPHS has the name "${name}", and so has one that was deployed to this server: set DEPLOYMENT_NAME to another name, or start once without GRAPHS to delete that one.`
  throw new AppError('config_invalid', { message })
}

/** Stores that all deployments share. */
interface Shares {
  /** The stores, which the first call may open. */
  shared(): Promise<SharedRuns>
  settle(): Promise<void>
  checks: StoreChecks
}

function sharedWith({ shared }: GraphsDeployment): Shares {
  return { shared: async () => shared, settle: shared.working.settle, checks: shared.checks }
}

function sharedLater(parts: DeploymentsParts): Shares {
  const { stops, config } = parts
  let late = new AsyncDisposableStack()
  stops.defer(() => late.disposeAsync())
  let opened: Promise<SharedRuns> | undefined
  const open = async (): Promise<SharedRuns> => {
    const own = { ...parts, stops: late }
    return await startSharedRuns(own, await openRunStores(own))
  }
  return {
    shared() {
      opened ??= open().catch(async (error: unknown) => {
        const failed = late
        late = new AsyncDisposableStack()
        opened = undefined
        await failed.disposeAsync()
        throw error
      })
      return opened
    },
    settle: async () => (await opened)?.working.settle(),
    checks: config.redisUrl === undefined ? {} : { redis: async () => (await opened)?.checks['redis']?.() },
  }
}

/**
 * Returns a function that opens the isolation of DEPLOY_RUNTIME and DEPLOY_ISOLATION once; containers that do not work
 * are tried again.
 */
function isolationOf({ deploy, runs, dataDir }: DeploymentsParts['config']): () => Promise<Isolation> {
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
