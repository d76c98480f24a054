import { restoreServer } from '../../../start/backups/restore-server.ts'
import { backupText } from '../../terminal/backup-text.ts'
import { folderOf, partsOf } from './backup.ts'

const HELP = `Usage: weir restore FOLDER

Restores a backup of weir backup into empty stores: an empty or new DATA_DIR, and where DATABASE_URL, CLICKHOUSE_URL or
BLOB_URL are set, a Postgres database, a ClickHouse database and a place of attachments without data. The stores may be
of another kind than those that were backed up. Then start the server; several servers after the first one is ready.

The backup is checked before anything is written. After a failure later on, empty the stores before the next try.

Options:
  -h, --help  print this`

/** `weir restore`; returns 0 if everything is restored. */
export async function restore(args: string[]): Promise<number> {
  const dir = folderOf(args, 'restore', HELP)
  const started = performance.now()
  const manifest = await restoreServer(partsOf(dir))
  console.log(backupText('Restored', manifest, performance.now() - started))
  return 0
}
