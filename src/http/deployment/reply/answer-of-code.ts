import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../base/errors.ts'
import { isSessionCookieName } from '../../server/browser/session-cookie.ts'

/**
 * Where a response of deployed code is read. `prefix`: the path of the deployment at this address, e.g.
 * `/deployments/support-bot`; '' at an address of its own. `sandboxed`: browsers keep session cookies of the interface
 * for this host, so pages get no origin. `hasSession`: the request had a session cookie.
 */
export interface AnswerPlace {
  prefix: string
  sandboxed: boolean
  hasSession: boolean
}

/** Sandbox of pages of deployed code: they have an opaque origin, without cookies, storage and service workers. */
export const SANDBOX_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['content-security-policy', 'sandbox allow-scripts allow-forms allow-popups'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
]

/** Headers of one hop, and those that only the server sets. */
const OF_SERVER = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'x-request-id']
/** Headers that browsers apply to the whole origin, host or site. */
const OF_ORIGIN = [
  'service-worker-allowed',
  'clear-site-data',
  'strict-transport-security',
  'public-key-pins',
  'public-key-pins-report-only',
  'expect-ct',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'origin-agent-cluster',
  'set-login',
  'accept-ch',
  'critical-ch',
  'use-as-dictionary',
  'secure-session-registration',
  'secure-session-challenge',
  'activate-storage-access',
  'speculation-rules',
  'supports-loading-mode',
  'x-permitted-cross-domain-policies',
  'set-cookie2',
]
/** Headers that a proxy in front of the server obeys. */
const OF_PROXIES = ['x-sendfile', 'x-lighttpd-send-file', 'x-reproxy-url', 'surrogate-control']
const DROPPED: ReadonlySet<string> = new Set([...OF_SERVER, ...OF_ORIGIN, ...OF_PROXIES])
const DROPPED_PREFIXES = ['x-accel-', 'sec-', 'proxy-', 'attribution-reporting-', 'ad-auction-']
const SANDBOX_SETS: ReadonlySet<string> = new Set(SANDBOX_HEADERS.map(([name]) => name).slice(1))

/**
 * The headers of a response of deployed code that clients get (D-64), as raw headers, in which names and values alternate.
 * Without those that take effect beyond the response; cookies are limited to the deployment.
 */
export function answerOfCode(rawHeaders: readonly string[], place: AnswerPlace): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const lower = name.toLowerCase()
    const passed =
      lower === 'set-cookie' ? limitedCookie(value, place.prefix) : passedValue(lower, value, place)
    if (passed !== undefined) kept.push(name, passed)
  }
  return place.sandboxed ? [...kept, ...SANDBOX_HEADERS.flat()] : kept
}

/** The value of a header; undefined if clients do not get it. */
function passedValue(
  name: string,
  value: string,
  { sandboxed, hasSession }: AnswerPlace,
): string | undefined {
  if (DROPPED.has(name) || DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix))) return undefined
  // Responses to a session carry no CORS headers (D-57).
  if (hasSession && name.startsWith('access-control-')) return undefined
  if (sandboxed && SANDBOX_SETS.has(name)) return undefined
  // A browser would ask for a password in the name of the interface, and send it with every later request.
  if (sandboxed && name === 'www-authenticate' && !/^bearer\b/i.test(value)) return undefined
  // Parts of such a response have headers of their own, which some browsers obey.
  if (name === 'content-type' && /x-mixed-replace/i.test(value)) return 'application/octet-stream'
  return value
}

/**
 * A cookie of deployed code for this host and the paths below `prefix` only; undefined for one that may be read as a
 * session cookie.
 */
function limitedCookie(cookie: string, prefix: string): string | undefined {
  const [pair = '', ...attributes] = cookie.split(';').map((text) => text.trim())
  const name = pair.split('=', 1)[0] ?? ''
  // Browsers send a cookie without a name as its value alone, which the server would read as name and value.
  if (name.trim() === '' || !pair.includes('=') || isSessionCookieName(name)) return undefined
  const isPath = (text: string): boolean => /^path\s*=/i.test(text)
  const others = attributes.filter((text) => !isPath(text) && !/^domain\s*(=|$)/i.test(text))
  const path = attributes.findLast(isPath)?.replace(/^[^=]*=\s*/, '') ?? ''
  return [pair, ...others, ...pathAttribute(path, prefix)].join('; ')
}

/** The attribute `Path` for a path that the code has set, which is '' for none. */
function pathAttribute(path: string, prefix: string): string[] {
  if (prefix === '' && path === '') return []
  const inside =
    path === prefix || path.startsWith(`${prefix}/`) ? path : prefix + path.replace(/^[^/].*$/, '')
  return [`Path=${inside || '/'}`]
}

/** What a page of the interface may request of deployed code: data for its scripts, or a page in a tab. */
const NO_CODE = new Set(['empty', 'document'])

/**
 * Refuses to give files of deployed code to a page of the same origin as a script, a worker or a style. The sandbox makes
 * requests of deployed pages cross-site, so the page is one of Weir. @throws AppError forbidden
 */
export function assertNotCode({ headers }: IncomingMessage): void {
  const dest = headers['sec-fetch-dest']
  if (headers['sec-fetch-site'] !== 'same-origin' || typeof dest !== 'string' || NO_CODE.has(dest)) return
  throw new AppError('forbidden', {
    message: 'Forbidden: pages of Weir do not load code of deployments.',
  })
}
