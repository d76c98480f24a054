import { createHash, randomUUID } from 'node:crypto'

/** The all-zero uuid, which stands for "none" in columns that cannot be null. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const DASHED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const BARE = /^[0-9a-f]{32}$/

/**
 * Converts a uuid, with or without dashes, to lower case with dashes; undefined for other text. In the REST examples of
 * LangSmith, the POST of a record has its id without dashes, and the PATCH has it with dashes.
 */
export function parseUuid(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value.length === 36) {
    if (DASHED.test(value)) return value
    const lower = value.toLowerCase()
    return DASHED.test(lower) ? lower : undefined
  }
  if (value.length !== 32) return undefined
  const lower = value.toLowerCase()
  return BARE.test(lower) ? dashed(lower) : undefined
}

/** `hex` (32 lower-case digits) with the four dashes of a uuid. */
export function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** A random uuid (version 4). */
export function newUuid(): string {
  return randomUUID()
}

/**
 * A uuid of version 7: such ids sort by their milliseconds, so records created together are close to each other in an
 * index.
 */
export function newTimeUuid(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${newUuid().slice(15)}`
}

/** The time of a uuid of version 7, epoch milliseconds. */
export function timeOfUuid(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)
}

/**
 * The uuid of a name within a namespace, which is a uuid itself (RFC 9562, version 5). The same name always has the
 * same uuid.
 */
export function uuidOfName(name: string, namespace: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return dashed(bytes.toString('hex'))
}
