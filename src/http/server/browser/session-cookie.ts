import type { IncomingHttpHeaders } from 'node:http'
import { isSecret } from '../../../identity/browser-sessions.ts'

type RequestHeaders = Pick<IncomingHttpHeaders, 'host' | 'cookie'>

/**
 * Name of the session cookie at the address that the browser uses. Browsers send the cookies of a host to all of its
 * ports, so the name contains the port, and servers at other ports have separate sessions.
 */
export function sessionCookieName({ host = '' }: Pick<IncomingHttpHeaders, 'host'>): string {
  const port = /:(\d+)$/.exec(host)?.[1]
  return port === undefined ? 'weir_session' : `weir_session_${port}`
}

/** Whether a cookie may be read as a session cookie, at whatever port. */
export function isSessionCookieName(name: string): boolean {
  return /^(__host-|__secure-|__http-|__host-http-)?weir_session/i.test(name)
}

/** The header `Cookie` without the session cookies of all ports; unchanged if it has none, undefined if no cookie is left. */
export function withoutSessionCookies(cookie: string): string | undefined {
  const pairs = cookie.split(';')
  const others = pairs.filter((pair) => !isSessionCookieName(pair.replace(/^[\s=]+/, '')))
  if (others.length === pairs.length) return cookie
  const left = others.map((pair) => pair.trim()).filter((pair) => pair !== '')
  return left.length === 0 ? undefined : left.join('; ')
}

/**
 * The secret in the session cookie of a request; undefined without a valid one, and if cookies of this name have several
 * secrets: one of them was set by another server at this host name.
 */
export function sessionSecretOf(headers: RequestHeaders): string | undefined {
  const name = sessionCookieName(headers)
  const secrets = new Set<string>()
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at < 0 || pair.slice(0, at).trim() !== name) continue
    const secret = pair.slice(at + 1).trim()
    if (isSecret(secret)) secrets.add(secret)
  }
  const [first, second] = secrets
  return second === undefined ? first : undefined
}

/** `Set-Cookie` for a new session of `max_age_s` seconds. */
export function sessionCookie(
  headers: RequestHeaders,
  secret: string,
  { max_age_s, isHttps }: { max_age_s: number; isHttps: boolean },
): string {
  const secure = isHttps ? '; Secure' : ''
  return `${sessionCookieName(headers)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${max_age_s}${secure}`
}

export function noSessionCookie(headers: RequestHeaders): string {
  return `${sessionCookieName(headers)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`
}
