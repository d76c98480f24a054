import type { IncomingMessage } from 'node:http'
import type { AppDeps } from '../app-deps.ts'

/** URL of this server for people, without a trailing slash: PUBLIC_URL, or the address of the request. */
export function ownAddress(
  { publicUrl }: Pick<AppDeps, 'publicUrl'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
): string {
  return (publicUrl ?? `http://${headers.host ?? 'localhost'}`).replace(/\/+$/, '')
}
