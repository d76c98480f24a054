import type { IncomingHttpHeaders } from 'node:http'
import type { Credentials } from '../auth/authenticator.ts'

const BEARER = /^Bearer +(\S+)$/i

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Key and workspace as the clients send them (contract §1.7): `x-api-key` comes before `Authorization: Bearer`, an empty `X-Tenant-Id` is none. */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const key = one(headers['x-api-key']) ?? BEARER.exec(headers.authorization ?? '')?.[1]
  return { key, workspace: one(headers['x-tenant-id']) || undefined }
}
