import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createSealer, type Sealer } from '../base/node/sealer.ts'
import type { Config } from '../config.ts'
import { keptValue } from '../storage/files/kept-value.ts'

/** The file in DATA_DIR with the key of secrets. While secrets are encrypted again, it has the new key, then the old one. */
export const KEY_FILE = 'secrets-key'

/** The keys in a file of keys, the current one first. */
export function keysIn(text: string): [string, ...string[]] {
  const [first = '', ...others] = text.split('\n').filter((line) => line.trim() !== '')
  return [first, ...others]
}

/**
 * Opens the sealer, which encrypts with SECRETS_KEY, or with the key in DATA_DIR, which the first use creates. It also
 * decrypts with the key from before a rotation.
 */
export async function openSealer({ deploy, dataDir }: Pick<Config, 'deploy' | 'dataDir'>): Promise<Sealer> {
  const { secretsKey, secretsKeyPrevious } = deploy
  if (secretsKey !== undefined)
    return createSealer(() => [secretsKey, ...(secretsKeyPrevious === undefined ? [] : [secretsKeyPrevious])])
  const folder = resolve(dataDir)
  await keptValue(folder, KEY_FILE, newKey)
  // `weir secrets rotate` changes the file while the server runs.
  return createSealer(() => keysIn(readFileSync(join(folder, KEY_FILE), 'utf8')))
}

export function newKey(): string {
  return randomBytes(32).toString('base64')
}
