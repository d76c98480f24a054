import { access, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../base/errors.ts'
import { createSealer } from '../base/node/sealer.ts'
import type { Config } from '../config.ts'
import { secretPlace } from '../deploy/secrets/deployment-secrets.ts'
import { tokensPlace } from '../identity/oidc/confirm.ts'
import { workspacePlace } from '../playground/secrets.ts'
import { replaceFile } from '../storage/files/kept-value.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import { sealedRecords } from '../storage/sql/secrets/sealed-records.ts'
import { KEY_FILE, keysIn, newKey } from '../hosting/secrets-key.ts'

export interface Rotated {
  /** Records that were encrypted again. */
  records: number
  /** The file with the new key; undefined if the key is in SECRETS_KEY. */
  file: string | undefined
}

/**
 * Time after which a server stores no more secret that it encrypted with the old key, and uses none that it read before
 * it was encrypted again.
 */
const SETTLE_MS = 10_000
const PLACES = { ofWorkspace: workspacePlace, ofDeployment: secretPlace, ofSession: tokensPlace }

type Keys = readonly [current: string, ...previous: string[]]

/** Encrypts everything again that the current key does not decrypt; returns the number of such records. */
async function encryptAgain(database: Database, keys: Keys): Promise<number> {
  const all = createSealer(() => keys)
  const current = createSealer(keys[0])
  const isCurrent = ({ place, sealed }: { place: string; sealed: string }): boolean => {
    try {
      current.open(place, sealed)
      return true
    } catch {
      return false
    }
  }
  let count = 0
  for await (const { secrets, replace } of sealedRecords(database, PLACES)) {
    if (secrets.every(isCurrent)) continue
    // A record that was changed meanwhile is looked at again by the next pass.
    await replace(secrets.map(({ place, sealed }) => all.seal(place, all.open(place, sealed))))
    count++
  }
  return count
}

/** Passes over all records until one finds nothing to do after `settleMs`. */
async function encryptAll(database: Database, keys: Keys, settleMs: number): Promise<number> {
  let records = 0
  for (;;) {
    for (let count = -1; count !== 0; records += count) count = await encryptAgain(database, keys)
    await delay(settleMs)
    const late = await encryptAgain(database, keys)
    if (late === 0) return records
    records += late
  }
}

/** The keys of DATA_DIR, with a new one in front unless an earlier rotation was interrupted. */
async function keysOfFolder(file: string): Promise<Keys> {
  const keys = keysIn(await readFile(file, 'utf8'))
  if (keys.length > 1) return keys
  const begun: Keys = [newKey(), ...keys]
  await replaceFile(file, `${begun.join('\n')}\n`)
  return begun
}

/**
 * Encrypts all stored secrets again with a new key, while servers run. An interrupted rotation is continued by the
 * next. @throws AppError config_invalid without the previous key; secrets_unreadable
 */
export async function rotateSecrets(
  { deploy, dataDir }: Pick<Config, 'deploy' | 'dataDir'>,
  database: Database,
  settleMs = SETTLE_MS,
): Promise<Rotated> {
  const { secretsKey, secretsKeyPrevious } = deploy
  if (secretsKey !== undefined) {
    if (secretsKeyPrevious === undefined)
      throw new AppError('config_invalid', {
        message:
          'SECRETS_KEY is set: start the servers and this command with the new key in SECRETS_KEY and the old one in SECRETS_KEY_PREVIOUS.',
      })
    const records = await encryptAll(database, [secretsKey, secretsKeyPrevious], settleMs)
    return { records, file: undefined }
  }
  const file = join(resolve(dataDir), KEY_FILE)
  await access(file).catch(() => {
    throw new AppError('data_dir_unusable', {
      message: `There is no ${file}: no secret has been stored yet.`,
    })
  })
  const keys = await keysOfFolder(file)
  const records = await encryptAll(database, keys, settleMs)
  await replaceFile(file, `${keys[0]}\n`)
  return { records, file }
}
