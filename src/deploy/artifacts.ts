import { createHash } from 'node:crypto'
import { access, mkdir, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeTree } from './build/remove-tree.ts'
import { temporaryOf } from './isolation/sandbox.ts'
import type { Revision } from './model.ts'

/** Folders of builds and of artifacts. */
export interface Artifacts {
  /** The folder in which the revision is built. */
  building(revision_id: string): string
  /** An empty folder for the build of the revision. */
  begin(revision_id: string): Promise<string>
  /** Whether the folder of the revision's build exists. */
  isBegun(revision_id: string): Promise<boolean>
  /** Makes the built folder the artifact `sha256`, unless that artifact exists. */
  keep(revision: Pick<Revision, 'id' | 'deployment_id'>, sha256: string): Promise<void>
  /** Removes the folder in which the revision was built. */
  discard(revision_id: string): Promise<void>
  /** The folder of an artifact. */
  path(deployment_id: string, sha256: string): string
  has(deployment_id: string, sha256: string): Promise<boolean>
  /**
   * Removes the artifacts and sources that no revision of `revisions` uses (P-22); sources only if they are older than
   * a day.
   */
  prune(deployment_id: string, revisions: readonly Revision[], now: number): Promise<void>
  /** Removes all artifacts and sources of a deployment. */
  removeAll(deployment_id: string): Promise<void>
}

const DAY_MS = 86_400_000

/**
 * Opens the artifacts below `dir`, each named by the inputs that determine its content. `forget` removes the other
 * files of a deleted deployment.
 */
export function createArtifacts(
  dir: string,
  forget: (deployment_id: string) => Promise<void> = async () => undefined,
): Artifacts {
  const building = (revision_id: string): string => join(dir, 'builds', revision_id)
  const ofDeployment = (deployment_id: string): string => join(dir, 'artifacts', deployment_id)
  const sources = (deployment_id: string): string => join(dir, 'sources', deployment_id)
  const path = (deployment_id: string, sha256: string): string => join(ofDeployment(deployment_id), sha256)
  const has = (deployment_id: string, sha256: string): Promise<boolean> => exists(path(deployment_id, sha256))
  return {
    building,
    path,
    has,
    async begin(revision_id) {
      await removeTree(building(revision_id))
      await mkdir(building(revision_id), { recursive: true })
      return building(revision_id)
    },
    isBegun: (revision_id) => exists(building(revision_id)),
    async keep({ id, deployment_id }, sha256) {
      const target = path(deployment_id, sha256)
      await mkdir(dirname(target), { recursive: true })
      if (await exists(target)) await removeTree(building(id))
      else await rename(building(id), target)
    },
    async discard(revision_id) {
      await removeTree(building(revision_id))
      // The folder still exists if the server was killed during the build.
      await removeTree(temporaryOf(building(revision_id)))
    },
    async prune(deployment_id, revisions, now) {
      const used = new Set(revisions.flatMap(({ artifact_sha256 }) => artifact_sha256 ?? []))
      for (const name of await entries(ofDeployment(deployment_id)))
        if (!used.has(name)) await removeTree(path(deployment_id, name))
      const kept = new Set(revisions.flatMap(({ source_path }) => source_path?.split('/').at(-1) ?? []))
      for (const name of await entries(sources(deployment_id))) {
        const file = join(sources(deployment_id), name)
        const { mtimeMs } = await stat(file)
        if (!kept.has(name) && mtimeMs < now - DAY_MS) await removeTree(file)
      }
    },
    async removeAll(deployment_id) {
      await forget(deployment_id)
      await removeTree(ofDeployment(deployment_id))
      await removeTree(sources(deployment_id))
    },
  }
}

/**
 * The name of an artifact. It is equal for equal source, path of langgraph.json, commands, Node, Python (`python` is
 * its file and version), platform, and use of install scripts.
 */
export function artifactName(
  { source_sha256, config_path, commands: { install_command, build_command } }: Revision,
  { withScripts, python }: { withScripts: boolean; python: readonly string[] },
): string {
  const { version, platform, arch } = process
  const commands = install_command === null && build_command === null ? [] : [install_command, build_command]
  const inputs = [
    ...[source_sha256, config_path, version, platform, arch, ...python],
    ...[...(withScripts ? ['scripts'] : []), ...commands],
  ]
  return createHash('sha256').update(JSON.stringify(inputs)).digest('hex')
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function entries(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => [])
}
