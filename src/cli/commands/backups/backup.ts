import { createLogger } from '../../../base/log.ts'
import { readConfig } from '../../../config.ts'
import { backUpServer } from '../../../start/backups/back-up-server.ts'
import type { BackupParts } from '../../../start/backups/open-stores.ts'
import { misused, readArguments, saidText } from '../../arguments/command-arguments.ts'
import { keepFilesPrivate } from '../private-files.ts'
import { backupText } from '../../terminal/backup-text.ts'

const HELP = `Usage: weir backup FOLDER

Writes everything into a new folder: identity, projects, threads, runs, checkpoints, traces, usage, attachments, sources
and builds of deployments, and keys. The server may run meanwhile, or not. Set the same environment variables as for the
server (DATA_DIR, DATABASE_URL, CLICKHOUSE_URL, BLOB_URL); on several servers run it on one.

What was acknowledged before the command began is in the backup; what comes later may be. The folder is as secret as
the server: the key of encrypted secrets is in it. weir restore puts it back.

Options:
  -h, --help  print this`

/** `weir backup`; returns 0 if the backup is complete. */
export async function backup(args: string[]): Promise<number> {
  const dir = folderOf(args, 'backup', HELP)
  const started = performance.now()
  const manifest = await backUpServer(partsOf(dir))
  console.log(backupText('Backed up', manifest, performance.now() - started))
  return 0
}

/** The folder that the command names. @throws AppError invalid_request */
export function folderOf(args: string[], command: string, help: string): string {
  const { positionals } = readArguments(args, {}, help)
  const [dir] = positionals
  if (dir !== undefined && positionals.length === 1) return dir
  throw misused(`weir ${command} takes one folder${saidText(positionals)}.`, help)
}

/**
 * Collects the dependencies of a backup or a restore: the folder, the settings of the server, and a log on standard
 * error.
 */
export function partsOf(dir: string): BackupParts {
  return {
    dir,
    config: keepFilesPrivate(readConfig()),
    logger: createLogger({ level: 'warn', destination: process.stderr }),
    progress: (step) => console.error(step),
  }
}
