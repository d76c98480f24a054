import { readFile, stat } from 'node:fs/promises'
import { AppError } from '../base/errors.ts'
import type { ReadSecret } from './setup.ts'

/** More than any key has. */
const MAX_BYTES = 4096

/** Secrets of the server itself: a key shows its first and last characters in lists. */
const NO_KEYS = ['SECRETS_KEY', 'SECRETS_KEY_PREVIOUS', 'WEBHOOK_SECRET']

/** Reads keys from environment variables and files of this machine. */
export function createReadSecret(environment: Readonly<Record<string, string | undefined>>): ReadSecret {
  return async (_name, { env, file }) => {
    if (env !== undefined && NO_KEYS.includes(env))
      throw new AppError('invalid_request', {
        message: `${env} is a secret of the server itself, and no key.`,
      })
    const value = env === undefined ? await readKeyFile(file ?? '') : environment[env]
    if (value !== undefined && value.trim() !== '') return value.trim()
    const where = env === undefined ? `The file ${file}` : `The environment variable ${env}`
    throw new AppError('invalid_request', { message: `${where} has no key.` })
  }
}

async function readKeyFile(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file)
    return size > MAX_BYTES ? undefined : await readFile(file, 'utf8')
  } catch {
    return undefined
  }
}
