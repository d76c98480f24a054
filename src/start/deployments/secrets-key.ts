import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { createSealer, type Sealer } from '../../base/node/sealer.ts'
import type { Config } from '../../config.ts'
import { keptValue } from '../../storage/files/kept-value.ts'

/** Opens the sealer, which encrypts with SECRETS_KEY, or with the key in DATA_DIR, which the first use creates. */
export async function openSealer({ deploy, dataDir }: Pick<Config, 'deploy' | 'dataDir'>): Promise<Sealer> {
  return createSealer(deploy.secretsKey ?? (await keptValue(resolve(dataDir), 'secrets-key', newKey)))
}

function newKey(): string {
  return randomBytes(32).toString('base64')
}
