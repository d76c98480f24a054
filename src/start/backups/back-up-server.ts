import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { backUp, LATE_MS } from '../../backup/back-up.ts'
import type { BackupSource, Manifest } from '../../backup/stores.ts'
import { systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { packageVersion } from '../../base/node/package-version.ts'
import type { Config } from '../../config.ts'
import { readClickHouseTables } from '../../storage/clickhouse/backup/table-copies.ts'
import { createServerRegistry } from '../../storage/sql/server-registry.ts'
import { findServer } from '../server-address.ts'
import {
  type BackupParts,
  installationStore,
  openBlobs,
  connectTraces,
  openDatabase,
  openTables,
  withStops,
} from './open-stores.ts'

/**
 * Backs up the stores of a server, which may be running. The backup contains everything that was acknowledged before
 * the call.
 * @throws AppError backup_unusable, store_unavailable, config_invalid when a server is just starting or stopping
 */
export async function backUpServer({ config, dir, logger, progress }: BackupParts): Promise<Manifest> {
  const dataDir = resolve(config.dataDir)
  return await withStops(async (stops) => {
    const isRunning = (await findServer(dataDir)) !== undefined
    await assertUsed(config, dataDir)
    const clickhouse = await connectTraces(config, dataDir, { logger, stops, isRunning })
    const source: BackupSource = {
      dataDir,
      writers: await writersOf(config, dataDir, isRunning),
      installation_id: () => installationOf(config, dataDir),
      traces: await readClickHouseTables(clickhouse),
      openSql: () => openSql(config, dataDir),
      blobs: await openBlobs(config, dataDir, stops),
    }
    return await backUp(source, { dir, version: packageVersion(), clock: systemClock, progress })
  })
}

/**
 * Other servers count when they have run since late data may have been received, also if they have ended: the next
 * start stores what they had received.
 */
async function writersOf(
  config: Config,
  dataDir: string,
  isRunning: boolean,
): Promise<BackupSource['writers']> {
  const alone = isRunning ? 'one' : 'none'
  // Servers can share stores only if they share a Postgres.
  if (config.databaseUrl === undefined) return alone
  const database = openDatabase(config, dataDir, 'identity')
  try {
    const recent = await createServerRegistry(database).recent(LATE_MS.several)
    return recent > (isRunning ? 1 : 0) ? 'several' : alone
  } finally {
    await database.close()
  }
}

async function openSql(config: Config, dataDir: string): ReturnType<BackupSource['openSql']> {
  const identity = await openTables(config, dataDir, 'identity')
  try {
    return { identity, runs: await openTables(config, dataDir, 'runs') }
  } catch (error) {
    await identity.close()
    throw error
  }
}

/** @throws AppError data_dir_unusable for a folder that no server has used */
async function assertUsed({ databaseUrl }: Config, dataDir: string): Promise<void> {
  const names: string[] = await readdir(dataDir).catch(() => [])
  if (names.includes(databaseUrl === undefined ? 'weir.db' : 'installation')) return
  throw new AppError('data_dir_unusable', {
    message: `No server has used ${dataDir}, so there is nothing to back up. Set DATA_DIR, and the other variables, as for the server.`,
  })
}

async function installationOf(config: Config, dataDir: string): Promise<string> {
  const database = openDatabase(config, dataDir, 'identity')
  try {
    return (await installationStore(config, database).read()) ?? ''
  } finally {
    await database.close()
  }
}
