import type { IncomingMessage } from 'node:http'
import type { AppDeps } from '../app-deps.ts'

/** URL of this server for people, without a trailing slash: PUBLIC_URL, or the address of the request. */
export function ownAddress(
  { publicUrl }: Pick<AppDeps, 'publicUrl'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
): string {
  return (publicUrl ?? `http://${headers.host ?? 'localhost'}`).replace(/\/+$/, '')
}

/**
 * Origin of the pages of deployed code: DEPLOYMENTS_ORIGIN, or the listener for deployments at the host name of the
 * request. Null if browsers may not be able to reach that listener.
 */
export function pagesOrigin(
  {
    publicUrl,
    deploymentsOrigin,
    deploymentsPort,
  }: Pick<AppDeps, 'publicUrl' | 'deploymentsOrigin' | 'deploymentsPort'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
): string | null {
  if (deploymentsOrigin !== undefined) return deploymentsOrigin
  const port = deploymentsPort?.()
  const own = URL.parse(`http://${headers.host ?? ''}`)
  return publicUrl !== undefined || port === undefined || own === null
    ? null
    : `http://${own.hostname}:${port}`
}
