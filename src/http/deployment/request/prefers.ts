import type { IncomingMessage } from 'node:http'

/** True when the request's `Prefer` header has `return=` with this value (RFC 7240). */
export function prefers({ headers }: IncomingMessage, wanted: 'minimal' | 'representation'): boolean {
  return new RegExp(`(^|[,;\\s])return="?${wanted}"?($|[,;\\s])`, 'i').test(String(headers['prefer'] ?? ''))
}

/**
 * True when the request prefers `messages=compact`: metadata of messages only once in a stream
 * (docs/protocol/streams.md).
 */
export function prefersCompactMessages({ headers }: IncomingMessage): boolean {
  return /(^|[,;\s])messages="?compact"?($|[,;\s])/i.test(String(headers['prefer'] ?? ''))
}
