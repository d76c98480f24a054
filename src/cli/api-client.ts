import { AppError } from '../base/errors.ts'
import { findTarget, type Target, type TargetFlags } from './find-target.ts'

/** Flags of every command that talks to a server, for `parseArgs`. */
export const API_FLAGS = {
  url: { type: 'string' },
  key: { type: 'string' },
  tenant: { type: 'string' },
} as const

/** Help for API_FLAGS. */
export const API_HELP = `  --url URL        the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  --key KEY        an API key (default: WEIR_API_KEY, else on this machine the one in DATA_DIR/api-key)
  --tenant ID      the workspace to act in, for a key that serves several and has no default`

/** Flags of every command that talks to a deployment. */
export const DEPLOYMENT_FLAGS = { url: { type: 'string' }, key: { type: 'string' } } as const

/** Help for DEPLOYMENT_FLAGS. */
export const DEPLOYMENT_HELP = `  --url URL        the deployment (default: WEIR_DEPLOYMENT_URL, else this machine at DEPLOYMENT_PORT, else that of the
                   server that runs on DATA_DIR)
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

  constructor(status: number, message: string) {
    super('invalid_request', { message })
    this.answered = status
  }
}

/** What was asked for is not there, or not any more. */
export function isGone(error: unknown): boolean {
  return error instanceof Refusal && error.answered === 404
}

const TIMEOUT_MS = 60_000

/** A client for the platform API of the server that `findTarget` finds; nothing is sent yet. */
export async function connectApi(flags: TargetFlags & { tenant?: string | undefined }): Promise<ApiClient> {
  const { tenant } = flags
  const target = await findTarget('platform', flags)
  return clientOf(target, '/api/v1', tenant === undefined ? {} : { 'x-tenant-id': tenant })
}

/** The same for the API of a deployment. */
export async function connectDeployment(flags: TargetFlags): Promise<ApiClient> {
  return clientOf(await findTarget('deployment', flags), '', {})
}

function clientOf(target: Target, prefix: string, tenant: Readonly<Record<string, string>>): ApiClient {
  const { url, key } = target
  const identity = { ...tenant, ...(key !== undefined && { 'x-api-key': key }) }
  const open: ApiClient['open'] = async (path, { method = 'GET', headers, body }, signal) => {
    const response = await send(url, `${prefix}${path}`, {
      method,
      headers: { ...identity, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    })
    if (response.ok) return response
    if (response.status === 401) throw new Refusal(401, keyRefusal(target))
    throw new Refusal(response.status, refusal(response.status, await response.text()))
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

async function send(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, init)
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === 'TimeoutError'
    const message = isLate
      ? `The server at ${url} did not answer within ${TIMEOUT_MS / 1000} s. Try again.`
      : `No server answers at ${url}. Start it with npm start, or name another address with --url.`
    throw new AppError('invalid_request', { message, cause })
  }
}

/** Why the server wants another key, or any, and where to get it. */
function keyRefusal({ url, keySource, keyFile }: Target): string {
  const another = 'Give a key with --key or WEIR_API_KEY.'
  if (keySource === undefined) {
    const none = keyFile === undefined ? '' : `, and there is none in ${keyFile}`
    return `The server at ${url} wants an API key${none} (401). ${another}`
  }
  const refused = `The server at ${url} does not know the key ${keySource === keyFile ? 'in' : 'of'} ${keySource} (401)`
  if (keySource !== keyFile)
    return `${refused}. weir keys create makes one; the first is in DATA_DIR/api-key.`
  return `${refused}: it was revoked, or is of another data directory. ${another} If no admin key is left, start the server again: it makes one and keeps it in ${keyFile}.`
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
