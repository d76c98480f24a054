import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { AppError } from '../../../base/errors.ts'
import type { Authenticator } from '../../../identity/authenticator.ts'
import { isAccessToken } from '../../../identity/oauth.ts'
import type { Tenant } from '../../../runs/model.ts'
import { withoutSessionCookies } from '../../server/browser/session-cookie.ts'
import { credentialsOf } from '../../server/credentials.ts'
import type { Exchange } from '../../server/exchange.ts'

export interface KeyCheck {
  /** Undefined with AUTH=off, where no text is a key. */
  keys: Pick<Authenticator, 'authenticate'> | undefined
  tenant: Pick<Tenant, 'workspace_id'>
}

/**
 * Moves credentials of Weir from the headers of a request to `exchange.withheld`, so that no code of the deployment can
 * get them: session cookies, access tokens, keys in `Authorization`, and a key in `x-api-key` if the request has a session too or if the
 * key opens another workspace (D-64). Other headers, and tokens that are no keys of Weir, stay.
 * @throws AppError store_unavailable
 */
export async function withholdCredentials(exchange: Exchange, check: KeyCheck): Promise<void> {
  const { req } = exchange
  const { cookie, authorization } = req.headers
  const apiKey = req.headers['x-api-key']?.toString()
  const cookies = cookie === undefined ? undefined : withoutSessionCookies(cookie)
  const hasSession = cookies !== cookie
  const taken: Record<string, string> = {}
  if (apiKey !== undefined && (await isForeign(keyIn({ 'x-api-key': apiKey }), check, hasSession)))
    taken['x-api-key'] = apiKey
  if (authorization !== undefined && (await isForeign(keyIn({ authorization }), check, true)))
    taken['authorization'] = authorization
  if (cookie !== undefined && hasSession) taken['cookie'] = cookie
  for (const name of Object.keys(taken)) setHeader(req, name, name === 'cookie' ? cookies : undefined)
  if (Object.keys(taken).length > 0) exchange.withheld = { ...exchange.withheld, ...taken }
}

/** The key in a header, of any scheme of `Authorization`. */
function keyIn(headers: IncomingHttpHeaders): string {
  return credentialsOf(headers, { basic: true }).key ?? ''
}

/** Whether the text is a key of Weir that the deployment's code must not get. */
async function isForeign(key: string, { keys, tenant }: KeyCheck, always: boolean): Promise<boolean> {
  if (isAccessToken(key)) return true
  try {
    const principal = await keys?.authenticate({ key, workspace: tenant.workspace_id })
    if (principal === undefined) return false
    return always || principal.workspace_ids.some((id) => id !== tenant.workspace_id)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'unauthorized') return false
    if (error.code === 'forbidden') return true
    throw error
  }
}

export function setHeader({ headers, rawHeaders }: IncomingMessage, name: string, value?: string): void {
  delete headers[name]
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]?.toLowerCase() === name) rawHeaders.splice(at, 2)
  if (value === undefined) return
  headers[name] = value
  rawHeaders.push(name, value)
}
