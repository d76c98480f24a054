import type { IncomingHttpHeaders } from 'node:http'
import type { AppError } from '../../base/errors.ts'
import type { ActsIn, Authenticator, Credentials } from '../../identity/authenticator.ts'
import type { Principal } from '../../identity/principal.ts'
import type { BrowserGates } from './browser/browser-gates.ts'
import { sessionSecretOf } from './browser/session-cookie.ts'
import type { Exchange } from './exchange.ts'

const BEARER = /^Bearer +(\S+)$/i
const BASIC = /^Basic +([A-Za-z\d+/=_-]+)$/i

/**
 * The value of a header. Node and proxies join the values of a header that is sent twice, as LangSmith's SDK for Python
 * 0.10 to 0.14 does; equal ones count as one.
 */
function one(header: string | string[] | undefined): string | undefined {
  if (Array.isArray(header)) return header[0]
  const [first, ...others] = header?.split(/\s*,\s*/) ?? []
  return others.every((other) => other === first) ? first : header
}

/** The text after the first colon of `Authorization: Basic`. */
function passwordOf(authorization: string): string | undefined {
  const text = Buffer.from(BASIC.exec(authorization)?.[1] ?? '', 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : text.slice(colon + 1)
}

/**
 * Key and workspace as clients send them: `x-api-key` takes precedence over `Authorization: Bearer`, an
 * empty `X-Tenant-Id` counts as none. With `basic` the password of `Authorization: Basic` is a key too.
 */
export function credentialsOf(headers: IncomingHttpHeaders, { basic = false } = {}): Credentials {
  const { authorization = '' } = headers
  const key =
    one(headers['x-api-key']) ??
    BEARER.exec(authorization)?.[1] ??
    (basic ? passwordOf(authorization) : undefined)
  return { key, workspace: one(headers['x-tenant-id']) || undefined }
}

/** The headers with the caller's credentials, also those that were removed from the request. */
function callerHeaders({ req, withheld }: Exchange): IncomingHttpHeaders {
  if (withheld === undefined) return req.headers
  return { ...withheld, ...req.headers, cookie: withheld.cookie ?? req.headers.cookie }
}

/** The key of a request, as `credentialsOf` finds it. */
export function sentKeyOf(exchange: Exchange): string | undefined {
  return credentialsOf(callerHeaders(exchange)).key
}

/** Callers of streams and sockets that stay open. Those that may no longer read are cut off. */
export interface OpenCallers {
  /**
   * Calls `check` from time to time, and at once after a change of keys, sessions, members or workspaces on this
   * server. When it rejects because the caller is refused, `end` is called, once. The returned function removes both.
   */
  add(check: () => Promise<unknown>, end: (refusal: AppError) => void): () => void
  close(): void
}

/** Checks and look-up of callers. */
export interface CallerDeps {
  authenticator: Pick<Authenticator, 'authenticate'>
  /** Checks of every request with AUTH=off. */
  gates: BrowserGates | undefined
  /** The callers of open streams. Absent: a stream stays open when its caller may no longer read it. */
  openCallers?: OpenCallers | undefined
}

/**
 * The secret of the session cookie that authenticates the request. Undefined at addresses where cookies are ignored,
 * and for a request with a key.
 */
export function sessionOf(exchange: Exchange, { basic = false } = {}): string | undefined {
  if (exchange.sessionGates === undefined) return undefined
  const headers = callerHeaders(exchange)
  return credentialsOf(headers, { basic }).key === undefined ? sessionSecretOf(headers) : undefined
}

/**
 * The caller of a request, by its key, otherwise by its session cookie. Synchronous if the caller was looked up a
 * moment ago, unless it must be `fresh`.
 * @throws AppError unauthorized, forbidden, workspace_required, misdirected_request, foreign_origin (also as the
 * rejection of the promise)
 */
export function callerOf(
  exchange: Exchange,
  { gates, authenticator }: CallerDeps,
  {
    basic = false,
    acts_in,
    fresh,
    resource,
  }: {
    basic?: boolean | undefined
    acts_in?: ActsIn | undefined
    fresh?: boolean
    /** The resource of OAuth whose access tokens are accepted; undefined for none. */
    resource?: string | undefined
  } = {},
): Principal | Promise<Principal> {
  const { req, sessionGates } = exchange
  gates?.assertOwn(req)
  const session = sessionOf(exchange, { basic })
  if (session !== undefined) sessionGates?.assertOwn(req)
  exchange.hasKey = true
  return authenticator.authenticate(
    { ...credentialsOf(callerHeaders(exchange), { basic }), session, resource },
    acts_in,
    fresh,
  )
}
