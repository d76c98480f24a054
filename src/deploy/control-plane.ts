import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { newTimeUuid } from '../base/ids.ts'
import type { Artifacts } from './artifacts.ts'
import { artifactPath } from './build/packed-artifact.ts'
import { assertDeploymentName } from './deployment-name.ts'
import type { DeploymentType } from './deployment-type.ts'
import type { DeploymentHosting } from './hosting.ts'
import { type BuildCommands, NO_COMMANDS, type Revision, type StoredDeployment } from './model.ts'
import { assertPlan, type Plan } from './plan.ts'
import type { Runtimes } from './runtimes.ts'
import { hostedOf } from './revision-steps.ts'
import type { Secret } from './secrets/environment.ts'
import { replacedSecrets } from './secrets/deployment-secrets.ts'
import type { Sealer } from '../base/node/sealer.ts'
import type { Uploads } from './source/uploads.ts'
import type { DeploymentStore, ListPart, NewRevision } from './stores/deployment-store.ts'
import { type FollowedLines, type FollowQuery, followLog } from './follow-log.ts'
import type { DeploymentLog } from './log-writer.ts'
import type { DeploymentLogStore, LogLine, LogQuery } from './stores/log-lines.ts'
import type { RevisionState } from './revision-states.ts'
import type { SharedFiles } from './stores/shared-files.ts'
import type { RevisionWorker } from './work-on-revisions.ts'

export interface Deployer {
  organization_id: string
  workspace_id: string
  short_key: string
}

export interface DeploymentChange {
  type: DeploymentType | undefined
  /** The object of an upload; undefined to keep the source. */
  source_path: string | undefined
  config_path: string
  /** New commands; an undefined one keeps the stored command. */
  commands: Partial<BuildCommands>
  /** All secrets; undefined or empty to keep the stored ones (P-17). */
  secrets: readonly Secret[] | undefined
}

export interface ControlPlaneOptions {
  store: DeploymentStore
  logs: Pick<DeploymentLogStore, 'read' | 'newest'>
  log: Pick<DeploymentLog, 'listen'>
  uploads: Uploads
  artifacts: Pick<Artifacts, 'has' | 'removeAll' | 'discard'>
  hosting: DeploymentHosting
  worker: Pick<RevisionWorker, 'wake' | 'interrupted'>
  runtimes: Runtimes
  sealer: Sealer
  plan: Plan
  clock: Clock
  /** Sources and builds of all servers; undefined if there is a single server. */
  files: Pick<SharedFiles, 'has' | 'prune'> | undefined
  /** Called when a deployment or a revision was created or deleted; notifies other servers and open pages. */
  changed(): void
  /** @throws AppError disk_full, disk_unwritable */
  assertRoom(): Promise<void>
  /** Whether this server or another one has a deployment of GRAPHS with this name. */
  isOfServer(name: string): Promise<boolean>
  /** Called with errors of `remove` and of other work in the background. */
  failed(error: unknown, deployment_id: string): void
}

/** Creates, updates and deletes deployments. Methods with an id throw `not_found` for an id of another workspace. */
export interface ControlPlane {
  runtimes: Runtimes
  hosting: Pick<DeploymentHosting, 'status'>
  /** Deployments, newest first; the deployment of GRAPHS is the last one. */
  list(workspace_id: string, filter: Parameters<DeploymentStore['list']>[1]): Promise<StoredDeployment[]>
  get(workspace_id: string, id: string): Promise<StoredDeployment>
  /** @throws AppError plan_required, container_runtime_unavailable, deployment_name_taken, invalid_request */
  create(
    deployer: Deployer,
    wanted: Pick<DeploymentChange, 'secrets' | 'commands'> & { name: string; type: DeploymentType },
  ): Promise<StoredDeployment>
  /**
   * Creates a revision, which is built and started later (P-8), from the given source, otherwise from that of the
   * active revision. Creates none if there is neither. @throws AppError deployment_type_fixed,
   * deployment_managed_by_server
   */
  update(
    deployer: Deployer,
    id: string,
    change: DeploymentChange,
  ): Promise<{ deployment: StoredDeployment; revision: Revision | undefined }>
  /** Marks the deployment as deleted; its processes, rows and files are erased in the background (P-4). */
  remove(workspace_id: string, id: string): Promise<StoredDeployment>
  allowUpload(workspace_id: string, id: string): ReturnType<Uploads['allow']>
  receiveUpload: Uploads['receive']
  revisions(
    workspace_id: string,
    id: string,
    filter: { status?: RevisionState | undefined } & ListPart,
  ): Promise<Revision[]>
  revision(workspace_id: string, id: string, revision_id: string): Promise<Revision>
  /**
   * Creates a revision with the artifact of an old revision (P-35). @throws AppError conflict if the old revision has
   * no artifact
   */
  redeploy(deployer: Deployer, id: string, revision_id: string): Promise<{ revision: Revision; of: Revision }>
  /** @throws AppError conflict when it has ended, deployment_managed_by_server */
  interrupt(workspace_id: string, id: string, revision_id: string): Promise<Revision>
  logs(workspace_id: string, id: string, query: LogQuery): Promise<LogLine[]>
  /** Yields the lines as they arrive, until the signal aborts or the deployment is deleted. */
  followLogs(
    workspace_id: string,
    id: string,
    query: FollowQuery,
  ): Promise<(signal: AbortSignal) => AsyncIterable<FollowedLines>>
  /** Completes deletions that a crash has interrupted. */
  eraseDeleted(): Promise<void>
}

const RECENT = { limit: 100, offset: 0 }

interface Calls {
  get: ControlPlane['get']
  /** @throws AppError deployment_managed_by_server */
  changeable(workspace_id: string, id: string): Promise<StoredDeployment>
  revision: ControlPlane['revision']
  add(id: string, wanted: NewRevision): Promise<Revision>
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { store, uploads, hosting, worker, runtimes } = options
  const get: Calls['get'] = async (workspace_id, id) => {
    const found = await store.get(workspace_id, id)
    if (found === undefined) throw new AppError('not_found')
    return found
  }
  const calls: Calls = {
    get,
    async changeable(workspace_id, id) {
      const deployment = await get(workspace_id, id)
      if (deployment.managed_by === 'server') throw new AppError('deployment_managed_by_server')
      return deployment
    },
    async revision(workspace_id, id, revision_id) {
      await get(workspace_id, id)
      const found = await store.revision(id, revision_id)
      if (found === undefined) throw new AppError('not_found')
      return found
    },
    async add(id, wanted) {
      const added = await store.addRevision(id, wanted)
      options.changed()
      void worker.wake()
      return added
    },
  }
  const { changeable } = calls
  return {
    runtimes,
    get,
    hosting,
    ...revisionCalls(options, calls),
    ...logCalls(options, calls),
    list: (workspace_id, filter) => store.list(workspace_id, filter),
    create: (deployer, wanted) => create(options, deployer, wanted),
    update: (deployer, id, change) => update(options, calls, { deployer, id, change }),
    async remove(workspace_id, id) {
      const deployment = await changeable(workspace_id, id)
      if (!(await store.markDeleted(workspace_id, id))) throw new AppError('not_found')
      options.changed()
      erase(options, deployment).catch((error: unknown) => options.failed(error, id))
      return deployment
    },
    async allowUpload(workspace_id, id) {
      await changeable(workspace_id, id)
      await runtimes.assertUsable()
      return await uploads.allow(id)
    },
    async receiveUpload(token, body) {
      await options.assertRoom()
      return await uploads.receive(token, body)
    },
    async eraseDeleted() {
      for (const deployment of await store.deleting())
        await erase(options, deployment).catch((error: unknown) => options.failed(error, deployment.id))
    },
  }
}

function logCalls(
  { store, logs, log }: ControlPlaneOptions,
  { get }: Calls,
): Pick<ControlPlane, 'logs' | 'followLogs'> {
  return {
    async logs(workspace_id, id, query) {
      await get(workspace_id, id)
      return await logs.read(id, query)
    },
    async followLogs(workspace_id, id, query) {
      await get(workspace_id, id)
      const isThere = async (): Promise<boolean> => (await store.get(workspace_id, id)) !== undefined
      return (signal) => followLog({ store: logs, log, isThere }, id, query, signal)
    },
  }
}

type RevisionCalls = Pick<ControlPlane, 'revisions' | 'revision' | 'redeploy' | 'interrupt'>

function revisionCalls(
  options: ControlPlaneOptions,
  { get, changeable, revision, add }: Calls,
): RevisionCalls {
  const { store, worker, runtimes } = options
  return {
    revision,
    async revisions(workspace_id, id, filter) {
      await get(workspace_id, id)
      return await store.revisions(id, filter)
    },
    async redeploy({ workspace_id, short_key }, id, revision_id) {
      await changeable(workspace_id, id)
      const of = await revision(workspace_id, id, revision_id)
      if (of.artifact_sha256 === null) {
        const message = `Revision ${of.number} was never built: deploy its source again.`
        throw new AppError('conflict', { message })
      }
      await runtimes.assertUsable()
      await assertKept(options, id, of.artifact_sha256)
      return { of, revision: await add(id, { ...of, created_by: short_key, rolled_back_from: of.number }) }
    },
    async interrupt(workspace_id, id, revision_id) {
      await changeable(workspace_id, id)
      const before = await revision(workspace_id, id, revision_id)
      const ended = await store.interrupt(id, revision_id)
      if (ended === undefined)
        throw new AppError('conflict', { message: `The revision has ended already: ${before.status}.` })
      void worker.interrupted(ended)
      return ended
    },
  }
}

/** @throws AppError build_not_kept if neither this server nor the shared store still has the artifact (P-22) */
async function assertKept(
  { artifacts, files }: Pick<ControlPlaneOptions, 'artifacts' | 'files'>,
  deployment_id: string,
  artifact_sha256: string,
): Promise<void> {
  if (await artifacts.has(deployment_id, artifact_sha256)) return
  if (await files?.has(deployment_id, artifactPath({ deployment_id, artifact_sha256 }))) return
  throw new AppError('build_not_kept')
}

async function update(
  options: ControlPlaneOptions,
  { changeable, add }: Calls,
  { deployer, id, change }: { deployer: Deployer; id: string; change: DeploymentChange },
): ReturnType<ControlPlane['update']> {
  const { store, clock } = options
  const { workspace_id, short_key } = deployer
  const deployment = await changeable(workspace_id, id)
  const commands = { ...deployment.commands, ...change.commands }
  const wanted = await revisionOf(options, { ...deployment, commands }, change)
  const secrets = replacedSecrets(deployment, change.secrets, { ...options, now: clock.now() })
  if (secrets !== deployment.secrets) await store.replaceSecrets(id, secrets)
  if (!isDeepStrictEqual(commands, deployment.commands)) await store.replaceCommands(id, commands)
  const revision = wanted && (await add(id, { ...wanted, created_by: short_key }))
  return { deployment: (await store.get(workspace_id, id)) ?? deployment, revision }
}

async function create(
  options: ControlPlaneOptions,
  { organization_id, workspace_id }: Deployer,
  { name, type, secrets, commands: asked }: Parameters<ControlPlane['create']>[1],
): Promise<StoredDeployment> {
  const { store, hosting, runtimes, clock } = options
  assertPlan(options.plan)
  await runtimes.assertUsable()
  assertDeploymentName(name)
  if (await options.isOfServer(name)) throw new AppError('deployment_name_taken')
  const id = newTimeUuid(clock.now())
  const sealed = replacedSecrets({ id, secrets: [] }, secrets, { ...options, now: clock.now() })
  const commands = { ...NO_COMMANDS, ...asked }
  const made = await store.create({
    id,
    organization_id,
    workspace_id,
    name,
    type,
    commands,
    secrets: [...sealed],
  })
  // A server that has a deployment of GRAPHS with this name may have started since the first check. Each server
  // announces its name before it looks for a stored deployment of that name, so this second check finds it.
  if (await options.isOfServer(name)) {
    await store.erase(id)
    throw new AppError('deployment_name_taken')
  }
  hosting.announce(hostedOf(made), 'It has no revision yet.')
  options.changed()
  return made
}

async function revisionOf(
  { store, uploads, runtimes }: ControlPlaneOptions,
  deployment: StoredDeployment,
  { type, source_path, config_path }: DeploymentChange,
): Promise<Omit<NewRevision, 'created_by'> | undefined> {
  if (type !== undefined && type !== deployment.type) {
    const message = `"${deployment.name}" is ${deployment.type}; the type is fixed when it is made.`
    throw new AppError('deployment_type_fixed', { message })
  }
  await runtimes.assertUsable()
  if (source_path !== undefined) {
    const { sha256: source_sha256 } = await uploads.open(deployment.id, source_path)
    const none = { artifact_sha256: null, rolled_back_from: null }
    return { source_path, config_path, commands: deployment.commands, source_sha256, ...none }
  }
  const { id, active_revision_id, commands } = deployment
  const active = active_revision_id === null ? undefined : await store.revision(id, active_revision_id)
  if (active === undefined) return undefined
  // The same source with other commands makes another artifact.
  const isSame = isDeepStrictEqual(commands, active.commands)
  return { ...active, commands, rolled_back_from: null, ...(!isSame && { artifact_sha256: null }) }
}

/** Erases a deployment that is marked as deleted: steps, hosts, rows, files, and its record at the end. */
async function erase(
  { store, hosting, worker, artifacts, files, clock }: ControlPlaneOptions,
  deployment: StoredDeployment,
): Promise<void> {
  const { id } = deployment
  // The first removal makes the path answer 404 at once. A step that was ending may then have opened something; the
  // second removal, below, removes that.
  const removed = hosting.remove(hostedOf(deployment))
  // A rejection before the `await` below, which reports it, would end the server.
  removed.catch(() => undefined)
  for (const { id: revision_id } of await store.revisions(id, RECENT)) {
    const interrupted = await store.interrupt(id, revision_id)
    if (interrupted !== undefined) await worker.interrupted(interrupted)
    await artifacts.discard(revision_id)
  }
  await removed
  await hosting.remove(hostedOf(deployment))
  await artifacts.removeAll(id)
  await files?.prune(id, new Set(), clock.now() + 1)
  await store.erase(id)
}
