import { join, resolve } from 'node:path'
import { childEntry } from '../../base/child-entry.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Sweeps } from '../../base/background/sweeps.ts'
import type { Config } from '../../config.ts'
import { createArtifacts } from '../../deploy/artifacts.ts'
import { probeContainers } from '../../deploy/build/container-probe.ts'
import { buildEnvironment } from '../../deploy/build/environment.ts'
import { uvFault } from '../../deploy/build/python-steps.ts'
import { type ControlPlane, createControlPlane } from '../../deploy/control-plane.ts'
import { createDeploymentLog, type DeploymentLog } from '../../deploy/log-writer.ts'
import type { DeploymentFeed } from '../../ingest/live/deployment-feed.ts'
import type { DeploymentHosting } from '../../deploy/hosting.ts'
import { type Isolation, sandboxIn } from '../../deploy/isolation/isolation.ts'
import type { Revision } from '../../deploy/model.ts'
import { createRevisionSteps, type RevisionWork } from '../../deploy/revision-steps.ts'
import { isTerminal } from '../../deploy/revision-states.ts'
import { shareAgain } from '../../deploy/share-again.ts'
import { createRuntimes } from '../../deploy/runtimes.ts'
import { openSecrets } from '../../deploy/secrets/deployment-secrets.ts'
import { createTidying } from '../../deploy/tidy-builds.ts'
import type { SourceTask, UnpackedSource } from '../../deploy/source/unpack-source.ts'
import { createUploads } from '../../deploy/source/uploads.ts'
import type { DeploymentLogStore } from '../../deploy/stores/log-lines.ts'
import type { UploadStore } from '../../deploy/stores/upload-store.ts'
import type { DeploymentStore } from '../../deploy/stores/deployment-store.ts'
import { type ServerDeployment, withServerDeployment } from '../../deploy/stores/server-deployment.ts'
import type { DeploymentChanges, SharedFiles } from '../../deploy/stores/shared-files.ts'
import {
  createRevisionWorker,
  type RevisionSteps,
  type RevisionWorker,
} from '../../deploy/work-on-revisions.ts'
import { readGraphSpec } from '../../graph/project/graph-spec.ts'
import type { BlobStore } from '../../ingest/store/blob-store.ts'
import type { DataDisk } from '../../ingest/store/data-disk.ts'
import { recordChild } from '../../storage/child-processes.ts'
import { createPostgresChanges } from '../../storage/sql/deployments/changes.ts'
import { createDeploymentStore } from '../../storage/sql/deployments/deployment-store.ts'
import { createDeploymentLogStore } from '../../storage/sql/deployments/log-store.ts'
import { createSharedFiles } from '../../storage/sql/deployments/shared-files.ts'
import { createUploadStore } from '../../storage/sql/deployments/upload-store.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { startDatabaseClock } from '../../storage/sql/driver/postgres/database-clock.ts'
import { graphName, type ServerRegistry } from '../../storage/sql/server-registry.ts'
import { createWorkerPool } from '../../worker-threads/worker-pool.ts'
import { openSealer } from '../secrets-key.ts'
import { followDeployments, type FollowServersParts } from './follow-deployments.ts'
import { restoreDeployments } from './restore-deployments.ts'

export interface ControlPlaneParts {
  config: Config
  logger: Logger
  sweeps: Sweeps
  /** The SQL store, migrated. */
  database: Database
  disk: Pick<DataDisk, 'assertRoom'>
  blobs: BlobStore
  hosting: DeploymentHosting
  /** The isolation of builds and hosts, which the first call opens. */
  isolation(): Promise<Isolation>
  /** The deployment of GRAPHS; undefined if there is none. */
  graphs: ServerDeployment | undefined
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
  deploymentFeed: Pick<DeploymentFeed, 'publish'>
  /** The servers that share the stores; undefined if there is no other server. */
  servers: Pick<ServerRegistry, 'graphs' | 'others'> | undefined
}

const LEASE_MS = 30_000
const WAKE_MS = 10_000
const SHARE_MS = 60_000
const UNPACK_MS = 300_000
const TRIM_MS = 3_600_000
const KEPT_LOG_MS = 14 * 86_400_000
const US_PER_MS = 1000
const DAY_MS = 86_400_000

/**
 * Opens the control plane: deployments that were active serve again, work on revisions continues, and deletions that a
 * crash has interrupted are completed.
 */
export async function openControlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { config, logger, database, disk, hosting, graphs, stops } = parts
  const isolation = await checkedIsolation(parts)
  const clock = await startDatabaseClock(database, { logger, stops })
  const { deploy, runs, dataDir, databaseUrl } = config
  const dir = join(resolve(dataDir), 'deployments')
  const stored = createDeploymentStore(database, clock)
  const store = graphs === undefined ? stored : withServerDeployment(stored, graphs)
  const logs = createDeploymentLogStore(database, clock)
  const sealer = await openSealer(config)
  const log = createDeploymentLog({ store: logs, clock, logger })
  stops.defer(() => log.flushed())
  const sandbox = async () => sandboxIn(await parts.isolation())
  // If containers do not work, there are no files of deployments in containers.
  const isolating = () => sandbox().catch(() => undefined)
  const artifacts = createArtifacts(dir, async (id) => (await isolating())?.forget(id))
  const uploadStore = createUploadStore(database, clock)
  const { files, changes, changed } = openSharing(parts, clock)
  const uploads = createUploads({ store: uploadStore, dir, max_bytes: deploy.maxSourceBytes, clock, files })
  const work = createRevisionSteps({
    store,
    uploads,
    artifacts,
    hosting,
    sealer,
    log,
    files,
    sandbox,
    unpack: startUnpacking(parts),
    buildEnvironment: ({ workspace_id }) =>
      buildEnvironment(runs.environment, join(dir, 'cache', workspace_id)),
    record: (name, pid) => recordChild(resolve(dataDir), name, pid),
    languageOf: (spec) => readGraphSpec(spec, '/').language,
    isAlone: async () => ((await parts.servers?.others()) ?? 0) === 0,
    switched: () => parts.deploymentFeed.publish(),
  })
  const tidy = createTidying({ store, artifacts, files, hosting, logger })
  const worker = startRevisionWorker(parts, { store, work, log, changed, tidy })
  // With SQLite there is one server, so all leases belong to a process that has ended.
  await worker.takeBack({ all: databaseUrl === undefined })
  const started = (revision: Revision): void => void tidy(revision)
  const wake = startServing(parts, { store, work, log, artifacts, worker, started, changes })
  if (files !== undefined) keepShared(parts, { store, work })
  keepAwake(wake, parts)
  startSweeping(parts, { logs, uploadStore, files, clock })
  const controlPlane = createControlPlane({
    store,
    logs,
    log,
    uploads,
    artifacts,
    hosting,
    sealer,
    clock,
    files,
    changed,
    isOfServer: (name) => isOfServer(parts, name),
    worker: { wake, interrupted: (revision) => worker.interrupted(revision) },
    runtimes: createRuntimes(
      deploy.runtime,
      { name: isolation, look: parts.isolation },
      () => probeContainers(runs.environment),
      () => uvFault(runs.environment),
    ),
    plan: deploy.plan,
    assertRoom: () => disk.assertRoom(),
    failed(error, deployment_id) {
      // The next start of the server completes the deletion.
      if (toAppError(error).code === 'shutting_down') return
      logger.error({ err: error, deployment_id }, 'a deployment was not erased')
    },
  })
  controlPlane
    .eraseDeleted()
    .catch((error: unknown) => logger.error({ err: error }, 'the deployments to erase could not be read'))
  void wake()
  return controlPlane
}

/** The name of the isolation; a warning in the log says why there is none, or why deployments cannot run. */
async function checkedIsolation({ isolation, logger }: Pick<ControlPlaneParts, 'isolation' | 'logger'>) {
  const { name, reason } = await isolation()
  const fault = name === 'none' ? 'deployments run without isolation' : 'deployments cannot run'
  if (reason !== null) logger.warn({ reason }, fault)
  return name
}

/** Whether one of the servers has a deployment of GRAPHS with this name, or had one a few minutes ago (P-1). */
export async function isOfServer(
  { graphs, servers }: Pick<ControlPlaneParts, 'graphs' | 'servers'>,
  name: string,
): Promise<boolean> {
  if (graphs?.deployment.name === name) return true
  const announced = (await servers?.graphs()) ?? []
  return [...announced].some((graph) => graph.startsWith(graphName(name, '')))
}

/**
 * Starts the active revisions, and follows other servers. Returns a function that searches for revisions to process,
 * once the active ones have started.
 */
function startServing(
  { hosting, logger, stops, deploymentFeed }: ControlPlaneParts,
  {
    changes,
    ...parts
  }: Omit<FollowServersParts, 'hosting' | 'logger' | 'signal'> & {
    work: RevisionWork
    worker: RevisionWorker
    changes: DeploymentChanges | undefined
  },
): () => Promise<void> {
  const ending = new AbortController()
  stops.defer(() => ending.abort())
  const serving = { ...parts, hosting, logger, signal: ending.signal }
  const follow = changes && followDeployments(serving)
  let restored: Promise<void> | undefined
  const wake = async (): Promise<void> => {
    try {
      restored ??= restoreDeployments({ ...serving, isFollowed: changes !== undefined })
      await restored
    } catch (error) {
      // The next call tries again.
      restored = undefined
      return logger.warn({ err: error }, 'the active revisions could not be read')
    }
    await follow?.()
    await parts.worker.wake()
  }
  changes?.listen(() => {
    deploymentFeed.publish()
    void wake()
  })
  return wake
}

interface WorkerParts {
  store: DeploymentStore
  work: RevisionSteps
  log: DeploymentLog
  /** Called after each change of a revision. */
  changed(): void
  /** Called when a revision has ended. */
  tidy(revision: Revision): Promise<void>
}

/** Works on revisions, and removes unneeded sources and builds when a revision has ended. */
function startRevisionWorker(
  { config, logger, stops }: ControlPlaneParts,
  { store, work, log, changed, tidy }: WorkerParts,
): RevisionWorker {
  const worker = createRevisionWorker({
    store,
    steps: work,
    logger,
    lease_ms: LEASE_MS,
    builds: config.deploy.builds,
    changed(revision) {
      logChange(log, revision)
      changed()
      if (isTerminal(revision.status)) void tidy(revision)
    },
  })
  stops.defer(() => worker.stop())
  return worker
}

/**
 * Opens the files and the notifications by which servers with the same Postgres and store of attachments serve the same
 * deployments (P-37); undefined without such a database or store. `changed` reports a change to this server and the
 * others.
 */
function openSharing(
  { config, database, blobs, logger, stops, deploymentFeed }: ControlPlaneParts,
  clock: Clock,
): { files: SharedFiles | undefined; changes: DeploymentChanges | undefined; changed(): void } {
  const { databaseUrl: url, blobUrl } = config
  if (url === undefined || blobUrl === undefined)
    return { files: undefined, changes: undefined, changed: () => deploymentFeed.publish() }
  const changes = createPostgresChanges({ url, database, logger })
  stops.defer(() => changes.close())
  const changed = (): void => {
    changes.announce()
    deploymentFeed.publish()
  }
  return { files: createSharedFiles(database, blobs, clock), changes, changed }
}

/**
 * Decrypts all stored secrets, so that nothing is deployed with the key of another installation (P-16).
 * @throws AppError secrets_unreadable
 */
export async function assertSecretsReadable({
  config,
  database,
}: Pick<ControlPlaneParts, 'config' | 'database'>): Promise<void> {
  const store = createDeploymentStore(database, systemClock)
  const sealer = await openSealer(config)
  const active = (await store.active()).map(({ deployment }) => deployment)
  for (const deployment of [...active, ...(await store.inactive())]) openSecrets(deployment, sealer)
}

/** Unpacks archives in a thread that ends when it is idle. */
function startUnpacking({
  logger,
  stops,
}: ControlPlaneParts): Parameters<typeof createRevisionSteps>[0]['unpack'] {
  const pool = createWorkerPool({
    entry: childEntry('source-thread'),
    name: 'sources',
    size: 1,
    depth: 1,
    taskTimeoutMs: UNPACK_MS,
    idleMs: WAKE_MS,
    logger,
  })
  stops.defer(() => pool.close())
  return (file, dir, signal) =>
    pool.run<UnpackedSource>({ name: 'unpack', input: { file, dir } satisfies SourceTask }, signal)
}

/** Stores the files of active revisions that the shared store lacks, at intervals. */
function keepShared(
  { logger, stops }: Pick<ControlPlaneParts, 'logger' | 'stops'>,
  parts: { store: DeploymentStore; work: RevisionWork },
): void {
  const ending = new AbortController()
  const share = shareAgain({ ...parts, logger, signal: ending.signal })
  const sharing = setInterval(() => void share(), SHARE_MS).unref()
  stops.defer(() => {
    clearInterval(sharing)
    ending.abort()
  })
}

/** Starts the deletion of data that deployments no longer need. */
function startSweeping(
  { sweeps, stops }: Pick<ControlPlaneParts, 'sweeps' | 'stops'>,
  {
    logs,
    uploadStore,
    files,
    clock,
  }: {
    logs: Pick<DeploymentLogStore, 'trim'>
    uploadStore: Pick<UploadStore, 'sweep'>
    files: SharedFiles | undefined
    clock: Clock
  },
): void {
  const works: Record<string, () => Promise<unknown>> = {
    deployment_logs: () => logs.trim((clock.now() - KEPT_LOG_MS) * US_PER_MS),
    uploads: () => uploadStore.sweep(clock.now() - DAY_MS),
  }
  if (files !== undefined) works['deployment_files'] = () => files.sweep(clock.now() - DAY_MS)
  for (const [name, work] of Object.entries(works)) {
    const started = sweeps.start({ name, everyMs: TRIM_MS, work })
    stops.defer(() => started.stop())
  }
}

/** Searches for revisions to process at intervals too, because a claim may have failed. */
function keepAwake(wake: () => Promise<void>, { stops }: Pick<ControlPlaneParts, 'stops'>): void {
  const look = setInterval(() => void wake(), WAKE_MS).unref()
  stops.defer(() => clearInterval(look))
}

function logChange(log: DeploymentLog, { id, deployment_id, number, status, error }: Revision): void {
  const place = error?.file === undefined ? '' : `${error.file}:${error.line ?? 1}: `
  const reason = error === null ? '' : `: ${place}${error.message}`
  const level = status.endsWith('_FAILED') ? 'ERROR' : 'INFO'
  log.write(deployment_id, {
    revision_id: id,
    kind: 'deploy',
    level,
    message: `revision ${number}: ${status}${reason}`,
  })
}
