import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeTree } from './remove-tree.ts'
import type { Artifacts } from '../artifacts.ts'
import type { Sandbox } from '../isolation/sandbox.ts'
import type { Revision } from '../model.ts'
import type { SharedFiles } from '../stores/shared-files.ts'
import { type SourceLimits, assertUnpacksWithin } from '../source/unpack-source.ts'
import { BUILD_DISK } from './install-dependencies.ts'
import { moveEnvironment } from './move-environment.ts'
import { runStep, type StepOptions } from './run-step.ts'
import { ENVIRONMENT } from './python-steps.ts'

export interface SharingParts {
  files: SharedFiles
  artifacts: Pick<Artifacts, 'path' | 'building' | 'begin' | 'keep'>
  sandbox(): Promise<Sandbox | undefined>
  record: StepOptions['record']
  /** The variables of builds. */
  env: StepOptions['env']
}

type Built = Pick<Revision, 'id' | 'deployment_id' | 'config_path'> & { artifact_sha256: string }

const PACKED = '.weir-artifact.tar.gz'
/** Limits of an unpacked artifact: those of a build (P-20). */
const ARTIFACT_LIMITS: SourceLimits = { max_bytes: BUILD_DISK.max_bytes, max_files: BUILD_DISK.max_files }
const PACK_MS = 5 * 60_000

/** The path of an artifact among the shared files. */
export function artifactPath({ deployment_id, artifact_sha256 }: Omit<Built, 'id' | 'config_path'>): string {
  return `artifacts/${deployment_id}/${artifact_sha256}`
}

/**
 * Stores an artifact for the other servers, unless it is stored already. @throws AppError build_failed if there is no
 * `tar`
 */
export async function shareArtifact(parts: SharingParts, built: Built, signal: AbortSignal): Promise<void> {
  const { files, artifacts } = parts
  if (await files.has(built.deployment_id, artifactPath(built))) return
  const dir = artifacts.path(built.deployment_id, built.artifact_sha256)
  const file = `${artifacts.building(built.id)}.tar.gz`
  try {
    await mkdir(dirname(file), { recursive: true })
    await runTar(dir, ['--create', '--gzip', '--file', file, '.'], { ...parts, signal })
    await files.put(built.deployment_id, artifactPath(built), file, dir)
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * Fetches an artifact that another server has built. Its archive is unpacked in the isolation of builds, because a
 * build has written its content. @throws AppError deployment_failed, build_failed, source_invalid when it is larger
 * than `limits`
 */
export async function fetchArtifact(
  parts: SharingParts,
  built: Built,
  signal: AbortSignal,
  limits: SourceLimits = ARTIFACT_LIMITS,
): Promise<boolean> {
  const { files, artifacts } = parts
  const { deployment_id: id, artifact_sha256 } = built
  // An id of its own, because a build of this revision may use the revision's folder at the same time.
  const revision = { ...built, id: `${built.id}-shared` }
  const dir = await artifacts.begin(revision.id)
  const file = join(dir, PACKED)
  try {
    const found = await files.get(id, artifactPath(built), file, limits.max_bytes)
    if (found === undefined) return false
    await assertUnpacksWithin(file, limits)
    const isolated = await (await parts.sandbox())?.builds(dir, { id, cache: dir })
    try {
      const extract = ['--extract', '--gzip', '--no-same-owner', '--file', PACKED]
      await runTar(dir, extract, { ...parts, signal, confine: isolated?.confine })
    } finally {
      await isolated?.end()
    }
    await rm(file)
    const environment = join(dir, dirname(built.config_path), ENVIRONMENT)
    await moveEnvironment(environment, found.made_in, artifacts.path(id, artifact_sha256))
    await artifacts.keep(revision, artifact_sha256)
    return true
  } finally {
    await removeTree(dir)
  }
}

function runTar(
  dir: string,
  args: readonly string[],
  { env, record, signal, confine }: Pick<StepOptions, 'env' | 'record' | 'signal' | 'confine'>,
): Promise<void> {
  return runStep(
    dir,
    { name: 'tar', title: 'tar', command: 'tar', args },
    { env, timeout_ms: PACK_MS, log: () => undefined, signal, confine, record },
  )
}
