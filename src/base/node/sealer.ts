import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { AppError } from '../errors.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts secrets, and opens them again (P-16). `place` is the unique name of a value's secret on a server, so that a
 * sealed value cannot be opened as another secret.
 */
export interface Sealer {
  /** Base64 of nonce, tag and encrypted value; different each time. */
  seal(place: string, value: string): string
  /** @throws AppError secrets_unreadable when it was sealed with another key, for another place, or was changed */
  open(place: string, sealed: string): string
}

function keyOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The value; undefined when it was sealed with another key, for another place, or was changed. */
function opened(key: Buffer, place: string, sealed: string): string | undefined {
  try {
    const bytes = Buffer.from(sealed, 'base64')
    const options = { authTagLength: TAG_BYTES }
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options)
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const parts = [decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
    return Buffer.concat(parts).toString('utf8')
  } catch {
    return undefined
  }
}

/**
 * Creates a sealer with AES-256-GCM; a key is the SHA-256 of its text. `keysNow` returns the texts of the keys, which may
 * change: it seals with the first, and opens with any.
 */
export function createSealer(keysNow: string | (() => readonly [string, ...string[]])): Sealer {
  const texts = typeof keysNow === 'string' ? () => [keysNow] as const : keysNow
  return {
    seal(place, value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyOf(texts()[0]), nonce).setAAD(Buffer.from(place))
      const encrypted = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64')
    },
    open(place, sealed) {
      for (const text of texts()) {
        const value = opened(keyOf(text), place, sealed)
        if (value !== undefined) return value
      }
      throw new AppError('secrets_unreadable')
    },
  }
}
