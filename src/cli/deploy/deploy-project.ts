import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { type ApiClient, Refusal, refusalText } from '../server/api-client.ts'
import {
  connectDeployments,
  type ShownDeployment,
  findByName,
  listRevisions,
  type ShownRevision,
} from './connection.ts'
import { assertServerBuilds, sourceFaults } from './source-faults.ts'
import { graphsText, sourceWarnings } from './source-warnings.ts'
import { followRevision } from './follow-revision.ts'
import { type PackedSource, packSource } from './pack-source.ts'
import type { Progress } from './progress.ts'
import { deploymentNameOf, type LocalProject, readProject, secretsOf, wantedName } from './project.ts'

/** Flags of `weir deploy` without an action. */
export interface DeployFlags {
  name?: string | undefined
  'deployment-type'?: string | undefined
  config?: string | undefined
  'env-file'?: string | undefined
  url?: string | undefined
  'api-key'?: string | undefined
  workspace?: string | undefined
  'no-wait'?: boolean | undefined
  verbose?: boolean | undefined
}

const MB = 1_000_000
const LARGEST = 5
const UPLOAD_MS = 600_000

/** Deploys the project of this folder: creates the deployment, or updates the deployment of the same name. */
export async function deployProject(flags: DeployFlags, progress: Progress): Promise<number> {
  const type = flags['deployment-type']
  if (type !== undefined && type !== 'dev' && type !== 'prod')
    throw new AppError('invalid_request', {
      message: `--deployment-type must be dev or prod. It is "${type}".`,
    })
  const project = await readProject(flags)
  const name = chooseName(flags, project, progress)
  const { errors, warnings } = await sourceFaults(project)
  if (errors.length > 0) throw new AppError('config_invalid', { message: errors.join('\n') })
  const api = await connectDeployments(flags, project.env)
  progress.done(project.config, graphsText(project))
  const packed = await packSource(project.dir)
  try {
    for (const link of packed.links.slice(0, LARGEST))
      progress.warn(`${link} is a link, and left out of the source.`)
    const said = [project.missing_env ?? [], warnings, sourceWarnings(project, packed.files)].flat()
    for (const warning of said) progress.warn(warning)
    progress.done(
      'source',
      `${packed.files.length} file${packed.files.length === 1 ? '' : 's'}, ${(packed.bytes / MB).toFixed(1)} MB`,
    )
    await assertServerBuilds(api, project, packed)
    const known = await findByName(api, name)
    const deployment = known ?? (await create(api, { name, type, project }))
    const source = await upload(api, deployment, packed, progress).catch(async (error: unknown) => {
      if (known === undefined) await removeEmpty(api, deployment, progress)
      throw error
    })
    const revision = await addRevision(api, { deployment, source, project, type })
    progress.done(`revision ${revision.weir.number}`, 'queued')
    if (flags['no-wait'] !== true)
      return await followRevision(api, { deployment, revision, verbose: flags.verbose === true }, progress)
    const message = `revision ${revision.weir.number} is built in the background: weir deploy logs ${name} --follow`
    progress.result('started', { deployment_id: deployment.id, message })
    return 0
  } finally {
    await packed.remove()
  }
}

function chooseName(flags: DeployFlags, project: LocalProject, progress: Progress): string {
  const { name, asked } =
    flags.name === undefined ? wantedName(project) : { name: deploymentNameOf(flags.name), asked: flags.name }
  if (name === '')
    throw new AppError('invalid_request', {
      message: `"${asked ?? basename(project.dir)}" has no letter (a-z) and no digit, which the name of a deployment needs: pass another --name.`,
    })
  if (asked !== undefined && asked !== name) progress.warn(`The name is used as "${name}".`)
  return name
}

async function create(
  api: ApiClient,
  { name, type, project }: { name: string; type: string | undefined; project: LocalProject },
): Promise<ShownDeployment> {
  const source_config = type === undefined ? {} : { deployment_type: type }
  const body = { name, source: 'internal_source', source_config, secrets: secretsOf(project) }
  return await api.json<ShownDeployment>('/v2/deployments', { method: 'POST', body })
}

/** Removes a deployment that has no revision yet, because its first source could not be uploaded. */
async function removeEmpty(api: ApiClient, { id, name }: ShownDeployment, progress: Progress): Promise<void> {
  try {
    if ((await listRevisions(api, id, 1)).length > 0) return
    await api.text(`/v2/deployments/${id}`, { method: 'DELETE' })
  } catch {
    progress.warn(
      `The deployment "${name}" was made and has no revision: weir deploy delete ${name} removes it.`,
    )
  }
}

/** Uploads the source; returns its path on the server. */
async function upload(
  api: ApiClient,
  { id }: ShownDeployment,
  packed: PackedSource,
  progress: Progress,
): Promise<string> {
  const at = `/v2/deployments/${id}/upload-url`
  const { upload_url, object_path } = await api.json<SchemaTypes['deployment-upload']>(at, { method: 'POST' })
  progress.uploading(packed.bytes, 0)
  await uploadSource(upload_url, packed)
  progress.uploading(packed.bytes, 100)
  return object_path
}

async function addRevision(
  api: ApiClient,
  {
    deployment: { id },
    source,
    project,
    type,
  }: {
    deployment: ShownDeployment
    source: string
    project: LocalProject
    type: string | undefined
  },
): Promise<ShownRevision> {
  const path = `/v2/deployments/${id}`
  const body = {
    revision_source: 'internal_source',
    ...(type !== undefined && { source_config: { deployment_type: type } }),
    source_revision_config: {
      source_tarball_path: source,
      langgraph_config_path: project.config,
    },
    secrets: secretsOf(project),
  }
  const { latest_revision_id } = await api.json<ShownDeployment>(path, { method: 'PATCH', body })
  const [newest] = await listRevisions(api, id, 1)
  if (newest?.id === latest_revision_id && newest !== undefined) return newest
  return await api.json<ShownRevision>(`${path}/revisions/${latest_revision_id}`)
}

/** @throws Refusal, with the largest files if the source is too large; AppError invalid_request if it broke off */
async function uploadSource(url: string, { file, bytes, files }: PackedSource): Promise<void> {
  const body = await openAsBlob(file, { type: 'application/gzip' })
  const signal = AbortSignal.timeout(UPLOAD_MS)
  const answer = await fetch(url, { method: 'PUT', body, signal }).catch((cause: unknown) => {
    const message = `The upload to ${new URL(url).origin} broke off. Run the command again.`
    throw new AppError('invalid_request', { message, cause })
  })
  if (answer.ok) return
  if (answer.status !== 413)
    throw new Refusal(answer.status, `The source could not be uploaded. ${await refusedUpload(answer)}`)
  const largest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, LARGEST)
  const shown = largest.map((one) => `${one.path} (${(one.bytes / MB).toFixed(1)} MB)`).join(', ')
  const message = `The source has ${(bytes / MB).toFixed(0)} MB; the largest files are ${shown}; add them to .dockerignore.`
  throw new Refusal(answer.status, message, 'body_too_large')
}

async function refusedUpload(answer: Response): Promise<string> {
  return refusalText(answer.status, await answer.text()) ?? `The server answered ${answer.status}.`
}
