import type { IncomingMessage } from 'node:http'

/** True when the request's `Prefer` header asks for `return=` this (RFC 7240). */
export function prefers({ headers }: IncomingMessage, wanted: 'minimal' | 'representation'): boolean {
  return new RegExp(`(^|[,;\\s])return="?${wanted}"?($|[,;\\s])`, 'i').test(String(headers['prefer'] ?? ''))
}
