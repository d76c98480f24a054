import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { packSource } from '../../../src/cli/deploy/pack-source.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { eventually } from '../eventually.ts'
import { jsonBody, KEY, type WeirProcess } from '../servers/weir-process.ts'

/** Texts of a project's files, by path. */
export type Project = Readonly<Record<string, string>>

type Deployment = SchemaTypes['deployment']
export type ShownRevision = SchemaTypes['deployment-revision']
type Server = Pick<WeirProcess, 'fetch' | 'json'>

/** The value of a secret; `greeter`'s graph returns it in its answers. */
export const GREETING = { name: 'GREETING', value: 'a-secret-of-the-deployment' }
const TERMINAL = ['DEPLOYED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED']
const BUILD_MS = 300_000

/** The state of a graph, in two forms. `types` needs the TypeScript compiler: two seconds of CPU for each revision. */
const STATES = {
  zod: "import { z } from 'zod'\nconst State = z.object({ said: z.string().optional() })",
  types:
    "import { Annotation } from '@langchain/langgraph'\nconst State = Annotation.Root({ said: Annotation<string>() })",
}

/** A project in TypeScript whose one graph, `agent`, answers with `text` and the variable GREETING, and prints both. */
export function greeter(text: string, state: keyof typeof STATES = 'zod'): Project {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './src/agent.ts:graph' }, node_version: '24' }),
    'src/agent.ts': `
      import { END, START, StateGraph } from '@langchain/langgraph'
      ${STATES[state]}
      const said: string = '${text} ' + (process.env.GREETING ?? 'nothing')
      export const graph = new StateGraph(State)
        .addNode('say', () => {
          console.log('saying ' + said)
          return { said }
        })
        .addEdge(START, 'say')
        .addEdge('say', END)
        .compile()
    `,
  }
}

/** Runs the graph of `greeter`; returns its greeting. */
export async function greetingOf({ url }: Pick<WeirProcess, 'url'>, deployment: string): Promise<unknown> {
  const client = new Client({ apiUrl: `${url}/deployments/${deployment}`, apiKey: KEY })
  const { said } = (await client.runs.wait(null, 'agent', { input: {} })) as { said: unknown }
  return said
}

/** The project as the archive that clients upload. */
export async function archiveOf(project: Project): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-project-'))
  try {
    for (const [path, text] of Object.entries(project)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const packed = await packSource(folder)
    const bytes = new Uint8Array(await readFile(packed.file))
    await packed.remove()
    return bytes
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Creates a deployment without a revision. */
export function createDeployment(weir: Server, name: string): Promise<Deployment> {
  return weir.json('/api-host/v2/deployments', jsonBody('POST', { name, source: 'internal_source' }))
}

/** Uploads the archive and creates a revision from it. Resolves with the revision, whose build is still running. */
export async function addRevision(
  weir: Server,
  id: string,
  archive: Uint8Array<ArrayBuffer>,
  secrets: { name: string; value: string }[] = [],
): Promise<ShownRevision> {
  const at = `/api-host/v2/deployments/${id}`
  const upload = await weir.json<SchemaTypes['deployment-upload']>(`${at}/upload-url`, { method: 'POST' })
  const put = await fetch(upload.upload_url, { method: 'PUT', body: archive })
  if (!put.ok) throw new Error(`upload: ${put.status} ${await put.text()}`)
  const source_revision_config = { source_tarball_path: upload.object_path }
  await weir.json(
    at,
    jsonBody('PATCH', { revision_source: 'internal_source', source_revision_config, secrets }),
  )
  return await latestRevision(weir, id)
}

export async function latestRevision(weir: Server, id: string): Promise<ShownRevision> {
  const page = await weir.json<SchemaTypes['deployment-revision-page']>(
    `/api-host/v2/deployments/${id}/revisions?limit=1`,
  )
  const [latest] = page.resources
  if (latest === undefined) throw new Error('there is no revision')
  return latest
}

export function endedRevision(weir: Server, id: string, revision_id: string): Promise<ShownRevision> {
  return eventually(async () => {
    const at = `/api-host/v2/deployments/${id}/revisions/${revision_id}`
    const revision = await weir.json<ShownRevision>(at)
    if (!TERMINAL.includes(revision.status)) throw new Error(`it is ${revision.status}`)
    return revision
  }, BUILD_MS)
}

/** Deploys `greeter(text)`; resolves with its revision once it has ended. */
export async function deployGreeter(
  weir: Server,
  id: string,
  text: string,
  secrets = [GREETING],
): Promise<ShownRevision> {
  const { id: revision_id } = await addRevision(weir, id, await archiveOf(greeter(text)), secrets)
  return await endedRevision(weir, id, revision_id)
}

/** A key of an operator, valid in the first workspace and in a new one, whose id is `workspace`. */
export async function keyOfTwoWorkspaces(weir: Server): Promise<{ key: string; workspace: string }> {
  const [home] = await weir.json<{ id: string }[]>('/workspaces')
  const { id: workspace } = await weir.json<{ id: string }>(
    '/workspaces',
    jsonBody('POST', { display_name: 'Other' }),
  )
  const wanted = { description: 'deploys', role: 'operator', workspaces: [home?.id ?? '', workspace] }
  const made = await weir.json<{ key: string }>('/api/v1/orgs/current/service-keys', jsonBody('POST', wanted))
  return { key: made.key, workspace }
}

export async function deploymentsOf(weir: Server, workspace: string): Promise<Deployment[]> {
  const headers = { 'x-tenant-id': workspace }
  return (await weir.json<{ resources: Deployment[] }>('/v2/deployments', { headers })).resources
}
