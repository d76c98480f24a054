import { hash } from 'node:crypto'
import type { Headers } from '../../api/route.ts'

/** Headers that let a client cache a response and make it revalidate the response each time. */
export function validatorOf(version: string): Headers {
  // Weak, since the same response may be sent in several encodings.
  return { etag: `W/"${version}"`, 'cache-control': 'private, no-cache' }
}

/** A version for `validatorOf` that changes with the content. */
export function versionOf(body: Uint8Array | string): string {
  return hash('sha256', body, 'base64url').slice(0, 27)
}

/** True if an If-None-Match header names the version. */
export function names(header: string | undefined, version: string): boolean {
  return knownVersions(header).some((known) => known === version || known === '*')
}

/** The versions that an If-None-Match header names; `*` for any. */
export function knownVersions(header = ''): string[] {
  return header.trim() === '*' ? ['*'] : [...header.matchAll(/"([^"]*)"/g)].map(([, version = '']) => version)
}
