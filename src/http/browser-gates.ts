import type { IncomingMessage } from 'node:http'
import { AppError } from '../base/errors.ts'
import { isLoopback } from '../base/loopback.ts'

/**
 * What a request must pass that counts without a key: any with AUTH=off, or one with the cookie of a browser session. A
 * page of another site can make a browser send such requests as well (D-57).
 */
export interface BrowserGates {
  /** @throws AppError misdirected_request, foreign_origin */
  assertOwn(req: Pick<IncomingMessage, 'headers' | 'method'>): void
}

/** Whose requests are let through. */
export interface BrowserGateOptions {
  /** Where browsers reach the server, beside the loopback addresses; undefined: nowhere else. */
  publicUrl: string | undefined
  /** Pages of other origins that may call; none unless said. */
  mayCall?(origin: string): boolean
}

/** `localhost:3000` as `localhost`; undefined for what is no host. */
function nameOf(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.hostname
}

/** True for a name that always leads to this machine, whoever answers for it in the DNS. */
export function isLoopbackName(name: string): boolean {
  return isLoopback(name) || name.endsWith('.localhost')
}

/** Gates for one listener. */
export function createBrowserGates({ publicUrl, mayCall = () => false }: BrowserGateOptions): BrowserGates {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)

  const isOwnName = (name: string | undefined): boolean =>
    name !== undefined && (isLoopbackName(name) || name === own?.hostname)
  const isOwnOrigin = (origin: string, host: string): boolean =>
    origin === `http://${host}` || origin === `https://${host}` || origin === own?.origin

  return {
    assertOwn({ headers, method }) {
      const host = headers.host?.toLowerCase() ?? ''
      // The owner of a name can point it to this machine: then a page under it is of the same origin (DNS rebinding).
      if (!isOwnName(nameOf(host))) throw new AppError('misdirected_request')
      const { origin } = headers
      if (origin !== undefined) {
        if (isOwnOrigin(origin.toLowerCase(), host) || mayCall(origin)) return
        throw new AppError('foreign_origin')
      }
      const site = headers['sec-fetch-site']
      const isNavigation = site === 'none' && (method === 'GET' || method === 'HEAD')
      if (site !== undefined && site !== 'same-origin' && !isNavigation) throw new AppError('foreign_origin')
    },
  }
}
