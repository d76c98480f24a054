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

/** A call of the platform API. */
export interface ApiCall {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  body?: unknown
}

/** The platform API of one server, as commands use it. Rejects with an AppError that says what the server said. */
export interface ApiClient {
  /** `path` without `/api/v1`, with its query. */
  text(path: string, call?: ApiCall): Promise<string>
  /** The same, parsed; the type is the caller's word. */
  json<T>(path: string, call?: ApiCall): Promise<T>
}

const TIMEOUT_MS = 60_000
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** A client for the server that flags, environment or defaults name; nothing is sent yet. */
export async function connectApi(flags: {
  url?: string | undefined
  key?: string | undefined
  tenant?: string | undefined
}): Promise<ApiClient> {
  const settings = readClientSettings()
  const url = flags.url ?? settings.url
  const key = flags.key ?? settings.apiKey ?? (await readKeyFile(url, settings.dataDir))
  const text = async (path: string, { method = 'GET', body }: ApiCall = {}): Promise<string> => {
    const response = await send(url, path, {
      method,
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(flags.tenant !== undefined && { 'x-tenant-id': flags.tenant }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = await response.text()
    if (response.ok) return answer
    throw new AppError('invalid_request', { message: refusal(response.status, answer) })
  }
  return {
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

async function send(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url.replace(/\/+$/, '')}/api/v1${path}`, init)
  } catch (cause) {
    throw new AppError('invalid_request', { message: `No server answers at ${url}`, cause })
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
