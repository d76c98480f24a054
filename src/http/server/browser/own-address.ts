import type { IncomingMessage } from 'node:http'
import { isLoopback } from '../../../base/loopback.ts'

export interface OwnAddresses {
  /** PUBLIC_URL. */
  publicUrl?: string | undefined
  /** DEPLOYMENTS_ORIGIN. */
  deploymentsOrigin?: string | undefined
  /** The port of the listener for deployments, once it is known. */
  deploymentsPort?: (() => number | undefined) | undefined
}

/** URL of this server for people, without a trailing slash: PUBLIC_URL, or the address of the request. */
export function ownAddress(
  { publicUrl }: Pick<OwnAddresses, 'publicUrl'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
): string {
  return (publicUrl ?? `http://${headers.host ?? 'localhost'}`).replace(/\/+$/, '')
}

/**
 * Origin of the pages of deployed code: DEPLOYMENTS_ORIGIN, or the listener for deployments at the host name of the
 * request. Null if browsers may not be able to reach that listener.
 */
export function pagesOrigin(
  { publicUrl, deploymentsOrigin, deploymentsPort }: OwnAddresses,
  { headers }: Pick<IncomingMessage, 'headers'>,
): string | null {
  if (deploymentsOrigin !== undefined) return deploymentsOrigin
  const port = deploymentsPort?.()
  const own = URL.parse(`http://${headers.host ?? ''}`)
  return publicUrl !== undefined || port === undefined || own === null
    ? null
    : `http://${own.hostname}:${port}`
}

/**
 * Whether the host name of DEPLOYMENTS_ORIGIN is none under which browsers reach the interface. `host`: HOST; loopback
 * names reach it always.
 */
export function hasOwnHost({
  deploymentsOrigin,
  publicUrl,
  host,
}: Pick<OwnAddresses, 'deploymentsOrigin' | 'publicUrl'> & { host: string }): boolean {
  if (deploymentsOrigin === undefined) return false
  const { hostname } = new URL(deploymentsOrigin)
  const isPublic = publicUrl !== undefined && new URL(publicUrl).hostname === hostname
  return !isPublic && !isLoopback(hostname) && hostname !== host
}
