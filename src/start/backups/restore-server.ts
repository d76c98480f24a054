import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { restoreBackup } from '../../backup/restore-backup.ts'
import type { Manifest, RestoreTarget, TableLoader } from '../../backup/stores.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Config } from '../../config.ts'
import { openIngestLog } from '../../ingest/log/ingest-log.ts'
import type { ListedBlobStore } from '../../ingest/store/blob-store.ts'
import { RECORD } from '../../ingest/store/store-batch.ts'
import { STORED_COLUMNS } from '../../ingest/store/stored-columns.ts'
import { lateFragments } from '../../storage/clickhouse/backup/late-fragments.ts'
import { createClickHouseLoader } from '../../storage/clickhouse/backup/table-copies.ts'
import type { ClickHouse } from '../../storage/clickhouse/connect.ts'
import { migrate } from '../../storage/clickhouse/migrate.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { MIGRATIONS_DIR } from '../../storage/sql/driver/migrate.ts'
import { RUN_MIGRATIONS, RUN_SCHEMA } from '../../storage/sql/driver/open-run-database.ts'
import { openPostgres } from '../../storage/sql/driver/postgres.ts'
import { createTableLoader } from '../../storage/sql/table-copies/load-tables.ts'
import { prepareDataDir } from '../data-dir.ts'
import {
  type BackupParts,
  installationStore,
  openBlobs,
  connectTraces,
  openDatabase,
  databasePlace,
  type SqlName,
  withStops,
} from './open-stores.ts'

/**
 * Restores a backup into the stores of a server that has not been started yet.
 * @throws AppError backup_unusable, store_not_empty, data_dir_unusable, store_unavailable
 */
export async function restoreServer({ config, dir, logger, progress }: BackupParts): Promise<Manifest> {
  const dataDir = resolve(config.dataDir)
  await prepareDataDir(dataDir)
  await assertEmptyFolder(dataDir)
  try {
    return await withStops((stops) =>
      restoreBackup(() => openTarget(config, dataDir, { logger, stops }), { dir, progress }),
    )
  } catch (error) {
    // DATA_DIR was empty, so everything in it is from this restore. Stores on servers are left unchanged.
    for (const name of await entriesOf(dataDir)) await rm(join(dataDir, name), { recursive: true })
    throw error
  }
}

async function openTarget(
  config: Config,
  dataDir: string,
  { logger, stops }: { logger: Logger; stops: AsyncDisposableStack },
): Promise<RestoreTarget> {
  const identity = openDatabase(config, dataDir, 'identity')
  stops.defer(() => identity.close())
  const runs = await openRuns(config, dataDir)
  stops.defer(() => runs.close())
  const clickhouse = await connectTraces(config, dataDir, { logger, stops, isRunning: false })
  const blobs = await openBlobs(config, dataDir, stops)
  const sql = (database: Database, store: SqlName, migrations: URL): TableLoader =>
    createTableLoader(database, { place: databasePlace(config.databaseUrl, store), migrations })
  return {
    dataDir,
    stores: {
      identity: sql(identity, 'identity', MIGRATIONS_DIR),
      runs: sql(runs, 'runs', RUN_MIGRATIONS),
      traces: createClickHouseLoader(clickhouse, { place: 'The database of CLICKHOUSE_URL', logger }),
    },
    blobs: { assertEmpty: () => assertNoBlobs(blobs), put: (some) => blobs.put(some) },
    repeatSince: (time) => repeatSince(time, { dataDir, logger, clickhouse, identity }),
    async writeInstallation(id) {
      const store = installationStore(config, identity)
      await store.prepare?.()
      await store.write(id)
    },
  }
}

async function assertEmptyFolder(dataDir: string): Promise<void> {
  const [found] = await entriesOf(dataDir)
  if (found === undefined) return
  throw new AppError('store_not_empty', {
    message: `${dataDir} (DATA_DIR) is not empty: it has ${found}. A backup is restored into empty stores only.`,
  })
}

/**
 * Lists the entries of DATA_DIR, except `.gitignore`, which Weir itself creates, and `lost+found`, which a new disk
 * has.
 */
async function entriesOf(dataDir: string): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => name !== '.gitignore' && name !== 'lost+found')
}

async function assertNoBlobs(blobs: ListedBlobStore): Promise<void> {
  for await (const sha256 of blobs.list())
    throw new AppError('store_not_empty', {
      message: `The place of attachments is not empty: it has ${sha256}. A backup is restored into empty stores only.`,
    })
}

async function openRuns(config: Config, dataDir: string): Promise<Database> {
  const { databaseUrl: url } = config
  if (url !== undefined) {
    const outside = openPostgres(url)
    try {
      await outside.query(`CREATE SCHEMA IF NOT EXISTS ${RUN_SCHEMA}`)
    } finally {
      await outside.close()
    }
  }
  return openDatabase(config, dataDir, 'runs')
}

interface RepeatParts {
  dataDir: string
  logger: Logger
  clickhouse: ClickHouse
  identity: Database
}

/**
 * Writes the data received since `time` to the ingest log. The first start stores this data and derives from it again.
 * Also queues the jobs that have ended since then, because some tables may lack their changes.
 */
async function repeatSince(
  time: Date,
  { dataDir, logger, clickhouse, identity }: RepeatParts,
): Promise<void> {
  // The backup may be from an earlier release, whose tables lack some of the current columns.
  await migrate(clickhouse, { logger })
  const log = await openIngestLog({
    dir: join(dataDir, 'ingest-log'),
    maxBytes: Number.MAX_SAFE_INTEGER,
    logger,
  })
  const late = { columns: STORED_COLUMNS.fragments, since: time }
  try {
    for await (const { count, rows } of lateFragments(clickhouse, late))
      await log.append({ kind: RECORD.fragments, count, received_at: time.getTime(), payload: rows })
  } finally {
    await log.close()
  }
  const again = `SET status = 'queued', finished_at = NULL`
  const ended = `WHERE status = 'done' AND finished_at >= ?`
  await identity.query(`UPDATE deletion_jobs ${again} ${ended}`, [time.getTime()])
  await identity.query(`UPDATE reprice_jobs ${again}, position = NULL ${ended}`, [time.getTime()])
}
