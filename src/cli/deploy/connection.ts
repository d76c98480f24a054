import { text as textOf } from 'node:stream/consumers'
import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { type ApiClient, connectTarget, isGone, Refusal } from '../server/api-client.ts'
import { type DeploySettings, KEY_VARIABLES, readDeploySettings } from '../server/client-settings.ts'
import { findTarget } from '../server/find-target.ts'

export type ShownDeployment = SchemaTypes['deployment']
/** A revision as the server shows it. */
export type ShownRevision = SchemaTypes['deployment-revision']

/** Flags of every action of `weir deploy`. */
export const CONNECTION_FLAGS = {
  url: { type: 'string' },
  'api-key': { type: 'string' },
  workspace: { type: 'string' },
} as const

export const CONNECTION_HELP = `  --url URL         the server (default: WEIR_URL, else LANGSMITH_ENDPOINT, else the one of this machine)
  --api-key KEY     an API key, or - to read it from stdin (default: ${KEY_VARIABLES.slice(0, 2).join(', ')},
                    ${KEY_VARIABLES.slice(2).join(' or ')} of the environment or of the project's .env, else on this machine
                    the one in DATA_DIR/api-key)
  --workspace ID    the workspace, for a key that serves several and has no default`

const LANGSMITH = /(^|\.)langchain\.com$/
const PER_PAGE = 100

/**
 * A client for the server that the flags, the environment or `dotEnv` name.
 * @throws AppError invalid_request
 */
export async function connectDeployments(
  flags: {
    url?: string | undefined
    'api-key'?: string | undefined
    workspace?: string | undefined
  },
  dotEnv: Readonly<Record<string, string>>,
  settings: DeploySettings = readDeploySettings(dotEnv),
): Promise<ApiClient> {
  const url = flags.url ?? settings.url?.value
  const host = url === undefined ? undefined : URL.parse(url)?.hostname
  if (host !== undefined && LANGSMITH.test(host))
    throw invalid(`${url} is LangSmith, not Weir: name your server with --url or WEIR_URL.`)
  const given = flags['api-key'] === '-' ? (await textOf(process.stdin)).trim() : flags['api-key']
  const target = await findTarget('platform', { url, key: given ?? settings.key?.value })
  if (target.key === undefined || target.key === '')
    throw invalid(`There is no API key: pass --api-key, or set ${KEY_VARIABLES.join(', ')}.`)
  const named = flags.url === undefined ? settings.url?.name : '--url'
  const urlSource = target.urlSource === undefined ? undefined : named
  const keySource = given === undefined ? (settings.key?.name ?? target.keySource) : '--api-key'
  return connectTarget({ ...target, urlSource, keySource, keyFlag: '--api-key' }, flags.workspace)
}

/** The deployment with this id or name. @throws Refusal when there is none */
export async function findDeployment(api: ApiClient, word: string): Promise<ShownDeployment> {
  const id = parseUuid(word)
  if (id === undefined) {
    const found = await findByName(api, word)
    if (found === undefined) throw unknown(word)
    return found
  }
  return await api.json<ShownDeployment>(`/v2/deployments/${id}`).catch((error: unknown) => {
    throw isGone(error) ? unknown(word) : error
  })
}

/** The deployment with this name; undefined if there is none. */
export async function findByName(api: ApiClient, name: string): Promise<ShownDeployment | undefined> {
  const { resources } = await api.json<SchemaTypes['deployment-page']>(
    `/v2/deployments?limit=1&name=${encodeURIComponent(name)}`,
  )
  return resources[0]
}

export async function listDeployments(api: ApiClient): Promise<ShownDeployment[]> {
  const all: ShownDeployment[] = []
  for (;;) {
    const at = `/v2/deployments?limit=${PER_PAGE}&offset=${all.length}`
    const { resources } = await api.json<SchemaTypes['deployment-page']>(at)
    all.push(...resources)
    if (resources.length < PER_PAGE) return all
  }
}

export async function listRevisions(api: ApiClient, id: string, limit = PER_PAGE): Promise<ShownRevision[]> {
  const at = `/v2/deployments/${id}/revisions?limit=${limit}`
  return (await api.json<SchemaTypes['deployment-revision-page']>(at)).resources
}

function unknown(word: string): Refusal {
  return new Refusal(404, `There is no deployment ${word}; weir deploy list shows them.`)
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', { message })
}
