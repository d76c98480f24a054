import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { parseSentinels } from '../../base/text/redis-address.ts'
import type { Config } from '../../config.ts'

/**
 * Fingerprints of the settings that must be the same on all servers of one database; null for a setting that is not
 * set.
 */
export type SettingPrints = Readonly<Record<SettingName | 'SECRETS_KEY_PREVIOUS', string | null>>
type SettingName = (typeof NAMES)[number]

const NAMES = ['REDIS_URL', 'SECRETS_KEY', 'WEBHOOK_SECRET'] as const
const PRINT_BYTES = 16
const derive = promisify<string, string, number, Buffer>(scrypt)

/** A setting whose values differ between two servers, with its consequences. */
export interface Difference {
  name: SettingName
  /** Whether the servers cannot work with different values, because one cannot decrypt the other's data. */
  isFatal: boolean
  words: string
}

const WORDS: Readonly<Record<SettingName, string>> = {
  REDIS_URL: 'a stream at one server does not show the events of a run at the other',
  SECRETS_KEY: 'secrets that one server encrypts cannot be read by the other',
  WEBHOOK_SECRET: 'any server sends a webhook, so receivers would refuse a part of the signatures',
}

/**
 * Computes the fingerprints with slow hashes, so that readers of the database cannot quickly guess weak secrets. `salt`
 * is the id of the installation.
 */
export async function settingPrints(
  { redisUrl, deploy, runs }: Pick<Config, 'redisUrl' | 'deploy' | 'runs'>,
  salt: string,
): Promise<SettingPrints> {
  const print = async (name: string, value: string | undefined): Promise<string | null> =>
    value === undefined ? null : (await derive(value, `${salt} ${name}`, PRINT_BYTES)).toString('hex')
  return {
    REDIS_URL: await print('REDIS_URL', redisUrl && placeOfRedis(redisUrl)),
    SECRETS_KEY: await print('SECRETS_KEY', deploy.secretsKey),
    SECRETS_KEY_PREVIOUS: await print('SECRETS_KEY', deploy.secretsKeyPrevious),
    WEBHOOK_SECRET: await print('WEBHOOK_SECRET', runs.webhookSecret),
  }
}

/**
 * The address of Redis, for comparison: without its user, because servers may have different users, and with the
 * Sentinels sorted.
 */
function placeOfRedis(text: string): string {
  const found = parseSentinels(text)
  if (found !== undefined) {
    const hosts = found.sentinels.map(({ host, port }) => `${host}:${port}`).toSorted()
    return `${hosts.join()}/${found.name}/${found.database}`
  }
  const url = new URL(text)
  return `${url.hostname}:${url.port || '6379'}${url.pathname.replace(/\/$/, '') || '/0'}`
}

/**
 * Returns the settings in which two servers differ. A secret that neither server sets differs too, because each server
 * creates its own. `other` may be of a release that stores fewer settings. Pure.
 */
export function settingDifferences(
  own: SettingPrints,
  other: Readonly<Record<string, string | null>>,
): Difference[] {
  return NAMES.flatMap((name) => {
    const [mine, theirs] = [own[name], other[name]]
    if (theirs === undefined) return []
    const isSame = mine === theirs && (mine !== null || name === 'REDIS_URL')
    if (isSame) return []
    const isRotating = own.SECRETS_KEY_PREVIOUS === theirs && other['SECRETS_KEY_PREVIOUS'] === mine
    const isFatal = name === 'SECRETS_KEY' && mine !== null && theirs !== null && !isRotating
    return [{ name, isFatal, words: `${name} is not the same on all servers: ${WORDS[name]}.` }]
  })
}
