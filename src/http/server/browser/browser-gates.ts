import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../base/errors.ts'
import { isLoopback } from '../../../base/loopback.ts'

/**
 * Checks of requests that need no key, because AUTH is off or a session cookie authenticates them. A page of another site
 * can make a browser send such requests too (D-57, docs/adr/0035-who-enters.md).
 */
export interface BrowserGates {
  /** @throws AppError misdirected_request, foreign_origin */
  assertOwn(req: Pick<IncomingMessage, 'headers' | 'method'>): void
}

/** Hosts and origins whose requests are accepted. */
export interface BrowserGateOptions {
  /**
   * The address or name on which the server listens (HOST). An address for all interfaces is not accepted as the host
   * of a request.
   */
  host?: string
  /** URL of the server for browsers, in addition to loopback addresses; undefined if there is none. */
  publicUrl: string | undefined
  /** Whether pages of another origin may call the server. Default: none may. */
  mayCall?(origin: string): boolean
}

/** The host name without the port: `localhost:3000` becomes `localhost`. Undefined for an invalid host. */
function nameOf(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.hostname
}

/** The name in a `Host` header of a server that listens on `listening`; undefined for all interfaces. */
function listeningNameOf(listening: string): string | undefined {
  const name = nameOf(listening.includes(':') && !listening.startsWith('[') ? `[${listening}]` : listening)
  return name === '0.0.0.0' || name === '[::]' ? undefined : name
}

/** Whether a name is a loopback address, or always resolves to this machine independently of DNS. */
export function isLoopbackName(name: string): boolean {
  return isLoopback(name) || name.endsWith('.localhost')
}

/** Creates the checks of one listener. */
export function createBrowserGates({
  publicUrl,
  host: listening,
  mayCall = () => false,
}: BrowserGateOptions): BrowserGates {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)
  const listeningName = listening === undefined ? undefined : listeningNameOf(listening)

  const isOwnName = (name: string | undefined): boolean =>
    name !== undefined && (isLoopbackName(name) || name === own?.hostname || name === listeningName)
  const isOwnOrigin = (origin: string, host: string): boolean =>
    origin === `http://${host}` || origin === `https://${host}` || origin === own?.origin

  return {
    assertOwn({ headers, method }) {
      const host = headers.host?.toLowerCase() ?? ''
      // Prevents DNS rebinding: the owner of any name can point it to this machine, and a page of that name then has
      // the same origin.
      if (!isOwnName(nameOf(host))) throw new AppError('misdirected_request')
      const { origin } = headers
      if (origin !== undefined) {
        if (mayCall(origin)) return
        if (!isOwnOrigin(origin.toLowerCase(), host)) throw new AppError('foreign_origin')
      }
      const site = headers['sec-fetch-site']
      const isNavigation = site === 'none' && (method === 'GET' || method === 'HEAD')
      if (site !== undefined && site !== 'same-origin' && !isNavigation) throw new AppError('foreign_origin')
    },
  }
}
