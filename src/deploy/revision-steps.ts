import { dirname, join } from 'node:path'
import { AppError, toAppError } from '../base/errors.ts'
import { UnsuitableFileError } from '../base/files/bounded-file.ts'
import { readLanggraphJson } from '../base/files/langgraph-json.ts'
import { artifactName, type Artifacts } from './artifacts.ts'
import { findPython } from './build/find-python.ts'
import { installDependencies, type InstallOptions } from './build/install-dependencies.ts'
import { moveEnvironment } from './build/move-environment.ts'
import { fetchArtifact, shareArtifact, type SharingParts } from './build/packed-artifact.ts'
import { ENVIRONMENT } from './build/python-steps.ts'
import { type DeploymentLog, printedLine } from './log-writer.ts'
import { TYPE_LIMITS } from './deployment-type.ts'
import type { ActivationOptions, ActivationReport, DeploymentHosting, HostedDeployment } from './hosting.ts'
import { cachesOf, type Sandbox } from './isolation/sandbox.ts'
import type { Revision, StoredDeployment } from './model.ts'
import { openSecrets } from './secrets/deployment-secrets.ts'
import { deploymentEnvironment } from './secrets/environment.ts'
import { createMask } from './secrets/mask.ts'
import type { Sealer } from '../base/node/sealer.ts'
import { type DemandsOptions, type ProjectDemands, readProjectDemands } from './source/project-demands.ts'
import type { UnpackedSource } from './source/unpack-source.ts'
import type { Uploads } from './source/uploads.ts'
import type { DeploymentStore } from './stores/deployment-store.ts'
import type { LogKind, NewLogLine } from './stores/log-lines.ts'
import type { SharedFiles } from './stores/shared-files.ts'
import type { RevisionSteps } from './work-on-revisions.ts'

export interface RevisionStepsOptions {
  store: Pick<DeploymentStore, 'find'>
  uploads: Pick<Uploads, 'open' | 'share'>
  artifacts: Artifacts
  hosting: Pick<DeploymentHosting, 'announce' | 'activate'>
  sealer: Sealer
  log: DeploymentLog
  /** Unpacks an archive outside of the main thread (P-19). */
  unpack(file: string, dir: string, signal: AbortSignal): Promise<UnpackedSource>
  /** The variables of package managers. */
  buildEnvironment(deployment: StoredDeployment): Readonly<Record<string, string>>
  record: InstallOptions['record']
  /** The sandbox of builds; undefined if builds are not isolated. @throws AppError container_runtime_unavailable */
  sandbox(): Promise<Sandbox | undefined>
  languageOf: DemandsOptions['languageOf']
  /** Artifacts that other servers can fetch; undefined if there is a single server. */
  files: SharedFiles | undefined
  /** Whether no other server is running. */
  isAlone(): Promise<boolean>
  /** Called when this server has switched to a revision, for open pages: the change of its state came before that. */
  switched(): void
}

/** The steps, and the activation of a revision that was built before. */
export interface RevisionWork extends RevisionSteps {
  activate(
    deployment: StoredDeployment,
    revision: Revision,
    options: Pick<ActivationOptions, 'signal' | 'commit'>,
  ): Promise<ActivationReport>
  /**
   * Stores the source and the build of a revision for other servers, if this server has them and the shared store lacks
   * them.
   */
  share(deployment: StoredDeployment, revision: Revision, signal: AbortSignal): Promise<void>
}

const BUILD_MS = 15 * 60_000
const NODE_MAJOR = Number.parseInt(process.versions.node, 10)

export function hostedOf({ id, name, workspace_id, type }: StoredDeployment): HostedDeployment {
  return { id, name, workspace_id, type, limits: TYPE_LIMITS[type] }
}

/** Unpacks, builds and activates revisions in the runtime `process`. */
export function createRevisionSteps(options: RevisionStepsOptions): RevisionWork {
  const { artifacts, log, hosting, sealer } = options
  const activate: RevisionWork['activate'] = async (deployment, revision, ends) => {
    const dir = artifactOf(artifacts, revision)
    await bringArtifact(options, deployment, revision, ends.signal)
    const { env: ofFile } = await readDemands(options, dir, revision)
    const secrets = openSecrets(deployment, sealer)
    const { env, left_out } = deploymentEnvironment(ofFile, secrets)
    const mask = createMask(secrets.map(({ value }) => value))
    const write = (kind: LogKind, line: Pick<NewLogLine, 'level' | 'message'>, host?: number): void =>
      log.write(deployment.id, { ...line, kind, revision_id: revision.id, message: mask(line.message) }, host)
    if (left_out.length > 0) {
      const message = `These variables are reserved, or impossible, and left out: ${left_out.join(', ')}.`
      write('build', { level: 'WARNING', message })
    }
    const { id, number, config_path } = revision
    const report = await hosting.activate(
      hostedOf(deployment),
      { id, number, dir, config_path, env },
      {
        log: (message) => write('deploy', { level: 'INFO', message }),
        printed: (from, text, pid) => write('server', printedLine(from, text), pid),
        noted: (level, message) => write('deploy', { level, message }),
        mask,
        ...ends,
      },
    )
    options.switched()
    return report
  }
  return {
    activate,
    async share(deployment, revision, signal) {
      const { deployment_id, artifact_sha256, source_path } = revision
      if (source_path !== null) await options.uploads.share(deployment_id, source_path)
      if (artifact_sha256 === null || !(await artifacts.has(deployment_id, artifact_sha256))) return
      const built = { ...revision, artifact_sha256 }
      await sharingOf(options, deployment, (parts) => shareArtifact(parts, built, signal))
    },
    create: (revision, { signal }) => create(options, revision, signal),
    build: (revision, { signal }) => build(options, revision, signal),
    async deploy(revision, { signal, finish }) {
      const deployment = await deploymentOf(options, revision)
      // The state is stored before the switch. Otherwise, after an interruption in between, a revision would serve that
      // is INTERRUPTED in the database.
      const commit: ActivationOptions['commit'] = ({ graphs, started_ms, checked_ms }) =>
        finish({ graphs, timings: { start: started_ms, check: checked_ms - started_ms } })
      await activate(deployment, revision, { signal, commit })
      return undefined
    },
  }
}

/** Unpacks the source, and finds the artifact of an earlier build of it. */
async function create(
  options: RevisionStepsOptions,
  revision: Revision,
  signal: AbortSignal,
): ReturnType<RevisionSteps['create']> {
  const { artifacts } = options
  const known = revision.artifact_sha256 ?? (await nameOf(options, revision))
  const built = { ...revision, artifact_sha256: known }
  const deployment = await deploymentOf(options, revision)
  await bringArtifact(options, deployment, built, signal)
  if (await artifacts.has(revision.deployment_id, known)) {
    // A build that was made while this server was alone is not shared yet.
    await shareBuild(options, deployment, built, signal)
    return { artifact_sha256: known }
  }
  const dir = await unpack(options, revision, signal)
  await readConfig(dir, revision).catch((error: unknown) => {
    const message =
      error instanceof AppError ? error.message : `The archive has no file "${revision.config_path}".`
    throw new AppError('source_invalid', { message })
  })
  return {}
}

async function unpack(
  { uploads, artifacts, unpack: unpackTo }: RevisionStepsOptions,
  { id, deployment_id, source_path }: Revision,
  signal: AbortSignal,
): Promise<string> {
  if (source_path === null) throw new AppError('source_invalid', { message: 'The revision has no source.' })
  const { file } = await uploads.open(deployment_id, source_path)
  const dir = await artifacts.begin(id)
  await unpackTo(file, dir, signal)
  return dir
}

async function build(
  options: RevisionStepsOptions,
  revision: Revision,
  signal: AbortSignal,
): ReturnType<RevisionSteps['build']> {
  const { artifacts, log } = options
  const { id, deployment_id } = revision
  // An earlier build may have left files, or another server may have unpacked the source.
  const isUnpacked = revision.builds === 1 && (await artifacts.isBegun(id))
  const dir = isUnpacked ? artifacts.building(id) : await unpack(options, revision, signal)
  const demands = await readDemands(options, dir, revision)
  const write = (level: NewLogLine['level'], message: string): void =>
    log.write(deployment_id, { revision_id: id, kind: 'build', level, message })
  for (const warning of demands.warnings) write('WARNING', warning)
  const deployment = await deploymentOf(options, revision)
  const env = options.buildEnvironment(deployment)
  const project = dirname(join(dir, revision.config_path))
  const cache = env['npm_config_cache'] ?? dir
  const isolated = await (await options.sandbox())?.builds(dir, { id: deployment_id, cache })
  try {
    await installDependencies(project, {
      env,
      project: demands,
      commands: revision.commands,
      confine: isolated?.confine,
      folders: { root: dir, caches: isolated?.caches ?? cachesOf(dir, cache) },
      timeout_ms: BUILD_MS,
      log: (line) => write('INFO', line),
      warn: (line) => write('WARNING', line),
      signal,
      record: options.record,
    })
  } finally {
    await isolated?.end()
  }
  const artifact_sha256 = await nameOf(options, revision)
  if (demands.python)
    await moveEnvironment(join(project, ENVIRONMENT), dir, artifacts.path(deployment_id, artifact_sha256))
  await artifacts.keep(revision, artifact_sha256)
  await shareBuild(options, deployment, { ...revision, artifact_sha256 }, signal)
  return { artifact_sha256, graphs: demands.graphs }
}

async function nameOf(options: RevisionStepsOptions, revision: Revision): Promise<string> {
  const python = await findPython(options.buildEnvironment(await deploymentOf(options, revision)))
  return artifactName(revision, {
    withScripts: (await options.sandbox()) !== undefined,
    python: python === undefined ? [] : [python.file, python.version],
  })
}

async function deploymentOf(
  { store }: Pick<RevisionStepsOptions, 'store'>,
  { deployment_id }: Revision,
): Promise<StoredDeployment> {
  const deployment = await store.find(deployment_id)
  if (deployment === undefined) throw new AppError('not_found')
  return deployment
}

function artifactOf(artifacts: Artifacts, { deployment_id, artifact_sha256 }: Revision): string {
  if (artifact_sha256 === null)
    throw new AppError('deployment_failed', { message: 'The revision has no artifact.' })
  return artifacts.path(deployment_id, artifact_sha256)
}

/** Calls `share` if there are other servers. */
async function sharingOf<T>(
  { files, ...parts }: RevisionStepsOptions,
  deployment: StoredDeployment,
  share: (parts: SharingParts) => Promise<T>,
): Promise<T | undefined> {
  if (files === undefined) return undefined
  return await share({ ...parts, files, env: parts.buildEnvironment(deployment) })
}

/**
 * Stores a build for the other servers. Any of them may have to start the revision next, so the step fails if the build
 * cannot be stored. A server that is alone continues, and tries again later (`shareAgain`).
 */
async function shareBuild(
  options: RevisionStepsOptions,
  deployment: StoredDeployment,
  built: Revision & { artifact_sha256: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await sharingOf(options, deployment, (parts) => shareArtifact(parts, built, signal))
  } catch (error) {
    signal.throwIfAborted()
    const reason = `The build could not be stored at BLOB_URL for other servers: ${toAppError(error).message}`
    if (!(await options.isAlone())) throw new AppError('build_failed', { message: reason, cause: error })
    const message = `${reason} This is tried again later.`
    const { id, deployment_id } = built
    options.log.write(deployment_id, { revision_id: id, kind: 'build', level: 'WARNING', message })
  }
}

/** Fetches the artifact of a revision that another server has built. */
async function bringArtifact(
  options: RevisionStepsOptions,
  deployment: StoredDeployment,
  revision: Revision,
  signal: AbortSignal,
): Promise<void> {
  const { artifact_sha256, deployment_id } = revision
  if (artifact_sha256 === null || (await options.artifacts.has(deployment_id, artifact_sha256))) return
  await sharingOf(options, deployment, (parts) =>
    fetchArtifact(parts, { ...revision, artifact_sha256 }, signal),
  )
}

async function readDemands(
  { languageOf }: Pick<RevisionStepsOptions, 'languageOf'>,
  dir: string,
  revision: Revision,
): Promise<ProjectDemands> {
  const text = await readConfig(dir, revision).catch((error: unknown) => {
    if (error instanceof AppError) throw error
    throw new AppError('deployment_failed', { message: 'The files of the revision are not on this server.' })
  })
  return readProjectDemands(text, { node: NODE_MAJOR, languageOf })
}

/** Reads langgraph.json of a source or a build, whose code may have made anything of it. */
async function readConfig(dir: string, { config_path }: Revision): Promise<string> {
  try {
    return await readLanggraphJson(join(dir, config_path), dir)
  } catch (error) {
    if (!(error instanceof UnsuitableFileError)) throw error
    throw new AppError('deployment_failed', { message: `"${config_path}" ${error.message}.` })
  }
}
