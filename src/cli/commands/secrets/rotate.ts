import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from '../../../base/errors.ts'
import { readConfig } from '../../../config.ts'
import { openDatabase } from '../../../start/backups/open-stores.ts'
import { rotateSecrets } from '../../../start/rotate-secrets.ts'
import { misused, readArguments, saidText } from '../../arguments/command-arguments.ts'
import { keepFilesPrivate } from '../private-files.ts'

const HELP = `Usage: weir secrets rotate

Encrypts the secrets of deployments and workspaces, and the tokens of sign-ins, again with a new key, while the server
runs or not. After an interruption, run it again. Set the same environment variables as for the server (DATA_DIR, DATABASE_URL).

Without SECRETS_KEY the new key is made and replaces that in DATA_DIR/secrets-key. With SECRETS_KEY, first start the
servers with the new key in SECRETS_KEY and the old one in SECRETS_KEY_PREVIOUS; docs/operating/guide.md has the steps
for several servers.

Options:
  -h, --help  print this`

/** @throws AppError data_dir_unusable */
async function assertServerIn(dataDir: string): Promise<void> {
  await access(join(dataDir, 'weir.db')).catch(() => {
    throw new AppError('data_dir_unusable', { message: `No server has used ${dataDir} (DATA_DIR).` })
  })
}

/** `weir secrets rotate`; returns 0 if all secrets are encrypted with the new key. */
export async function secrets(args: string[]): Promise<number> {
  const { positionals } = readArguments(args, {}, HELP)
  if (positionals.length !== 1 || positionals[0] !== 'rotate')
    throw misused(`weir secrets takes one word, rotate${saidText(positionals)}.`, HELP)
  const config = keepFilesPrivate(readConfig())
  const dataDir = resolve(config.dataDir)
  if (config.databaseUrl === undefined) await assertServerIn(dataDir)
  const database = openDatabase(config, dataDir, 'identity')
  try {
    const { records, file } = await rotateSecrets(config, database)
    const next =
      file === undefined
        ? 'Now start the servers without SECRETS_KEY_PREVIOUS.'
        : `The new key is in ${file}; the old one decrypts nothing any more.`
    console.log(`Encrypted ${records} records again. ${next}`)
    return 0
  } finally {
    await database.close()
  }
}
