import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import { readClientSettings } from '../config.ts'

/** Flags of every command that talks to a server, for `parseArgs`. */
export const API_FLAGS = {
  url: { type: 'string' },
  key: { type: 'string' },
  tenant: { type: 'string' },
} as const

/** Help for API_FLAGS. */
export const API_HELP = `  --url URL        the server (default: WEIR_URL, else this machine at PORT)
  --key KEY        an API key (default: WEIR_API_KEY, else on this machine the one in DATA_DIR/api-key)
  --tenant ID      the workspace to act in, for a key that serves several and has no default`

/** Flags of every command that talks to a deployment. */
export const DEPLOYMENT_FLAGS = { url: { type: 'string' }, key: { type: 'string' } } as const

/** Help for DEPLOYMENT_FLAGS. */
export const DEPLOYMENT_HELP = `  --url URL        the deployment (default: WEIR_DEPLOYMENT_URL, else this machine at DEPLOYMENT_PORT)
  --key KEY        an API key (default: WEIR_API_KEY, else on this machine the one in DATA_DIR/api-key)`

/** A call of an API. */
export interface ApiCall {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body?: unknown
}

/** An API of one server, as commands use it. Rejects with an AppError that says what the server said. */
export interface ApiClient {
  /** `path` as in the API's description, with its query. */
  text(path: string, call?: ApiCall): Promise<string>
  /** The same, parsed; the type is the caller's word. */
  json<T>(path: string, call?: ApiCall): Promise<T>
  /** The answer as it comes, for as long as it comes; `signal` ends it. Only refusals and no answer reject. */
  open(path: string, call: ApiCall, signal: AbortSignal): Promise<Response>
}

/** The server answered, and refused: another try would be refused as well, unless `answered` is 429 or from 500 on. */
export class Refusal extends AppError {
  /** As HTTP has it. */
  readonly answered: number

  constructor(status: number, answer: string) {
    super('invalid_request', { message: refusal(status, answer) })
    this.answered = status
  }
}

/** What was asked for is not there, or not any more. */
export function isGone(error: unknown): boolean {
  return error instanceof Refusal && error.answered === 404
}

const TIMEOUT_MS = 60_000
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

interface ConnectionFlags {
  url?: string | undefined
  key?: string | undefined
}

/** A client for the platform API of the server that flags, environment or defaults name; nothing is sent yet. */
export async function connectApi(
  flags: ConnectionFlags & { tenant?: string | undefined },
): Promise<ApiClient> {
  const settings = readClientSettings()
  const url = flags.url ?? settings.url
  const key = flags.key ?? settings.apiKey ?? (await readKeyFile(url, settings.dataDir))
  const { tenant } = flags
  return clientOf(
    { url, prefix: '/api/v1' },
    { ...keyHeader(key), ...(tenant !== undefined && { 'x-tenant-id': tenant }) },
  )
}

/** The same for the API of a deployment. */
export async function connectDeployment(flags: ConnectionFlags): Promise<ApiClient> {
  const settings = readClientSettings()
  const url = flags.url ?? settings.deploymentUrl
  const key = flags.key ?? settings.apiKey ?? (await readKeyFile(url, settings.dataDir))
  return clientOf({ url, prefix: '' }, keyHeader(key))
}

function keyHeader(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'x-api-key': key }
}

function clientOf(
  server: { url: string; prefix: string },
  identity: Readonly<Record<string, string>>,
): ApiClient {
  const open: ApiClient['open'] = async (path, { method = 'GET', headers, body }, signal) => {
    const response = await send(server, path, {
      method,
      headers: { ...identity, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    })
    if (response.ok) return response
    throw new Refusal(response.status, await response.text())
  }
  const text = async (path: string, call: ApiCall = {}): Promise<string> =>
    (await open(path, call, AbortSignal.timeout(TIMEOUT_MS))).text()
  return {
    open,
    text,
    async json<T>(path: string, call?: ApiCall) {
      return JSON.parse(await text(path, call)) as T
    },
  }
}

/** The key of the server on this machine, which no other is to be shown. */
async function readKeyFile(url: string, dataDir: string): Promise<string | undefined> {
  const { hostname } = URL.parse(url) ?? { hostname: '' }
  if (!LOOPBACK.test(hostname)) return undefined
  const text = await readFile(join(dataDir, 'api-key'), 'utf8').catch(() => undefined)
  return text?.trim()
}

async function send(
  { url, prefix }: { url: string; prefix: string },
  path: string,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(`${url.replace(/\/+$/, '')}${prefix}${path}`, init)
  } catch (cause) {
    throw new AppError('invalid_request', {
      message: `No server answers at ${url}; --url names another.`,
      cause,
    })
  }
}

/** What the server said, in one line. */
function refusal(status: number, answer: string): string {
  try {
    const { detail } = JSON.parse(answer) as { detail?: unknown }
    if (typeof detail === 'string') return `${detail} (${status})`
    if (Array.isArray(detail)) {
      const faults = (detail as { loc?: unknown[]; msg?: string }[]).map(
        ({ loc = [], msg }) => `${loc.slice(1).join('.')}: ${msg}`,
      )
      return `${faults.join('; ')} (${status})`
    }
  } catch {
    // Not ours: a proxy's page, say.
  }
  return `The server answered ${status}`
}
