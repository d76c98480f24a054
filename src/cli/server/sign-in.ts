import { hash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { AppError } from '../../base/errors.ts'
import { LOGIN_CLIENT } from '../../identity/oauth.ts'
import { isObject } from '../../schema/json.ts'

const TIMEOUT_MS = 60_000
/** Time in which the person must allow the sign-in. */
const PATIENCE_MS = 10 * 60_000

function failed(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { message, cause })
}

/** The code with which the browser comes back. @throws AppError if it comes with a refusal, or not in time */
async function codeOf(server: Server, { state, issuer }: { state: string; issuer: string }): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timer = setTimeout(
    () => reject(failed('Nobody allowed the sign-in within ten minutes.')),
    PATIENCE_MS,
  )
  server.on('request', (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://127.0.0.1')
    const isAnswer = pathname === '/callback' && searchParams.get('state') === state
    if (!isAnswer || searchParams.get('iss') !== issuer) return void res.writeHead(404).end()
    const code = searchParams.get('code')
    res.setHeader('content-type', 'text/plain')
    res.setHeader('connection', 'close')
    res.end(code === null ? 'The sign-in was denied.' : 'You are signed in: go back to the terminal.')
    if (code === null) reject(failed(`The sign-in was denied (${searchParams.get('error') ?? 'no code'}).`))
    else resolve(code)
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

async function json(url: string, init?: RequestInit): Promise<Record<string, unknown>> {
  let response: Response
  try {
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (cause) {
    throw failed(`No server answers at ${url}.`, cause)
  }
  const value: unknown = await response.json().catch(() => undefined)
  const answer: Record<string, unknown> = isObject(value) ? value : {}
  if (response.ok) return answer
  const why = answer['error_description'] ?? answer['detail'] ?? answer['error']
  throw failed(
    `${typeof why === 'string' ? why : `The server at ${url} answered ${response.status}`}.`.replace(
      '..',
      '.',
    ),
  )
}

/**
 * Signs in to the server with a browser, over a code that comes back to this machine (RFC 8252, PKCE), and returns a
 * personal access token. `show` gets the address to open. @throws AppError
 */
export async function signInTo(
  url: string,
  show: (address: string) => void,
): Promise<{ key: string; expires_in: number | undefined }> {
  const metadata = await json(`${url}/.well-known/oauth-authorization-server`)
  const { issuer, authorization_endpoint, token_endpoint } = metadata
  if (
    typeof issuer !== 'string' ||
    typeof authorization_endpoint !== 'string' ||
    typeof token_endpoint !== 'string'
  )
    throw failed(`What listens at ${url} is not Weir.`)
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
    const [state, code_verifier] = [
      randomBytes(32).toString('base64url'),
      randomBytes(32).toString('base64url'),
    ]
    const asked = new URL(authorization_endpoint)
    const challenge = hash('sha256', code_verifier, 'base64url')
    const parameters = {
      response_type: 'code',
      client_id: LOGIN_CLIENT.id,
      redirect_uri,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) asked.searchParams.set(name, value)
    const coming = codeOf(server, { state, issuer })
    show(asked.href)
    const form = {
      grant_type: 'authorization_code',
      client_id: LOGIN_CLIENT.id,
      code: await coming,
      redirect_uri,
      code_verifier,
    }
    const { access_token, expires_in } = await json(token_endpoint, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    if (typeof access_token !== 'string') throw failed('The server gave no token.')
    return { key: access_token, expires_in: typeof expires_in === 'number' ? expires_in : undefined }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
