import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReportStep } from '../../backup/back-up.ts'
import type { TableReader } from '../../backup/stores.ts'
import type { Logger } from '../../base/log.ts'
import type { Config } from '../../config.ts'
import type { ListedBlobStore } from '../../ingest/store/blob-store.ts'
import { type ClickHouse, connectClickHouse } from '../../storage/clickhouse/connect.ts'
import { readAddress } from '../../storage/clickhouse/embedded/address.ts'
import { startEmbeddedClickHouse } from '../../storage/clickhouse/embedded/start.ts'
import { EMBEDDED_DATABASE, serverPlace } from '../../storage/clickhouse/open.ts'
import { createFileBlobStore } from '../../storage/files/blob-store.ts'
import { type MarkedStore, sqlStore } from '../../storage/installation.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { inSchema, RUN_MIGRATIONS, RUN_SCHEMA } from '../../storage/sql/driver/open-run-database.ts'
import { MIGRATIONS_DIR } from '../../storage/sql/driver/migrate.ts'
import { openPostgres } from '../../storage/sql/driver/postgres.ts'
import { openSqlite } from '../../storage/sql/driver/sqlite.ts'
import { readPostgresTables } from '../../storage/sql/table-copies/postgres-reader.ts'
import { readSqliteTables } from '../../storage/sql/table-copies/sqlite-reader.ts'

/** Inputs of a backup and of a restore: the settings of the server, and the folder of the backup. */
export interface BackupParts {
  config: Config
  dir: string
  logger: Logger
  progress: ReportStep
}

/** The files of SQLite in DATA_DIR. */
const FILES = { identity: 'weir.db', runs: 'runs.db' } as const
/** Time limit of a statement in seconds, since reading a whole table may take hours. */
const LONG_SECONDS = 7 * 24 * 3_600

export type SqlName = keyof typeof FILES

/** Executes `work`, then ends what it has started. */
export async function withStops<T>(work: (stops: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stops = new AsyncDisposableStack()
  try {
    return await work(stops)
  } finally {
    await stops.disposeAsync()
  }
}

/** Connects to the ClickHouse of CLICKHOUSE_URL or of the running server; otherwise starts the embedded one. */
export async function connectTraces(
  { clickhouseUrl, clickhouseLayout: layout }: Config,
  dataDir: string,
  { logger, stops, isRunning }: { logger: Logger; stops: AsyncDisposableStack; isRunning: boolean },
): Promise<ClickHouse> {
  const long = { maxExecutionSeconds: LONG_SECONDS }
  if (clickhouseUrl !== undefined)
    return closing(connectClickHouse({ ...serverPlace(clickhouseUrl), layout, ...long }), stops)
  const address = isRunning ? await readAddress(dataDir) : undefined
  if (address !== undefined)
    return closing(connectClickHouse({ ...address, database: EMBEDDED_DATABASE, ...long }), stops)
  const engine = await startEmbeddedClickHouse({ dataDir, logger })
  stops.defer(() => engine.stop())
  const { url, username, password } = engine
  return closing(connectClickHouse({ url, username, password, database: EMBEDDED_DATABASE, ...long }), stops)
}

function closing(clickhouse: ClickHouse, stops: AsyncDisposableStack): ClickHouse {
  stops.defer(() => clickhouse.close())
  return clickhouse
}

/** Opens the attachments of BLOB_URL, or those in DATA_DIR. */
export async function openBlobs(
  { blobUrl }: Config,
  dataDir: string,
  stops: AsyncDisposableStack,
): Promise<ListedBlobStore> {
  if (blobUrl === undefined) return createFileBlobStore(join(dataDir, 'blobs'))
  if (blobUrl.startsWith('file:')) {
    await mkdir(fileURLToPath(blobUrl), { recursive: true, mode: 0o700 })
    return createFileBlobStore(fileURLToPath(blobUrl))
  }
  const { openS3Blobs, s3PlaceOf } = await import('../../storage/s3/blob-store.ts')
  const blobs = await openS3Blobs(s3PlaceOf(blobUrl))
  stops.defer(() => blobs.close())
  return blobs
}

/** Opens a reader of the tables in their state at the moment of the call. */
export function openTables(
  { databaseUrl: url }: Config,
  dataDir: string,
  store: SqlName,
): Promise<TableReader> {
  if (url === undefined) return Promise.resolve(readSqliteTables(join(dataDir, FILES[store])))
  return store === 'runs'
    ? readPostgresTables(inSchema(url, RUN_SCHEMA), RUN_MIGRATIONS)
    : readPostgresTables(url, MIGRATIONS_DIR)
}

/** Opens the database without running migrations. */
export function openDatabase({ databaseUrl: url }: Config, dataDir: string, store: SqlName): Database {
  if (url === undefined) return openSqlite(join(dataDir, FILES[store]), { synchronous: 'full' })
  return openPostgres(store === 'runs' ? inSchema(url, RUN_SCHEMA) : url)
}

/** The SQL store that contains the id of the installation. */
export function installationStore({ databaseUrl }: Config, identity: Database): MarkedStore {
  return sqlStore('sql', databasePlace(databaseUrl, 'identity'), identity)
}

/** Names a database in messages. */
export function databasePlace(databaseUrl: string | undefined, store: SqlName): string {
  return databaseUrl === undefined ? `${FILES[store]} in DATA_DIR` : 'The database of DATABASE_URL'
}
