import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import type { Config } from '../config.ts'
import type { StoreChecks } from '../base/background/store-checks.ts'
import type { BlobStore } from '../ingest/store/blob-store.ts'
import { createCheckedBlobs } from '../ingest/store/checked-blobs.ts'
import { createFileBlobStore } from '../storage/files/blob-store.ts'
import { folderStore, type Installation } from '../storage/installation.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import { reportConnections } from '../storage/sql/driver/postgres/connection-budget.ts'
import { LOCK_CONNECTIONS } from '../storage/sql/driver/postgres/table-locks.ts'
import type { ServerRegistry } from '../storage/sql/server-registry.ts'
import { type JoiningParts, joinServers } from '../hosting/servers/other-servers.ts'
import { takesTurns } from '../storage/clickhouse/cluster/layout.ts'
import { CLAIM_MS, claimLater } from '../storage/own-stores.ts'

export interface BlobParts {
  config: JoiningParts['config'] & Pick<Config, 'databaseConnections' | 'clickhouseLayout'>
  logger: Logger
  stopping: AbortSignal
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

export interface OpenedBlobs {
  blobs: BlobStore
  checks: StoreChecks
}

/**
 * Opens the store of attachments: the bucket or folder of BLOB_URL, or a folder in DATA_DIR. A bucket that does not
 * answer is checked as soon as it answers. Registers the server among those that share the database. @throws AppError
 * config_invalid, store_changed
 */
export async function openBlobs(
  parts: BlobParts,
  {
    installation,
    database,
    servers,
  }: { installation: Installation; database: Database; servers: ServerRegistry | undefined },
): Promise<OpenedBlobs> {
  const others = await joinServers(parts, { servers, installation_id: installation.id })
  const { blobUrl, dataDir, databaseUrl, databaseConnections, clickhouseLayout } = parts.config
  if (databaseUrl !== undefined) {
    const locks = takesTurns(clickhouseLayout) ? LOCK_CONNECTIONS : 0
    await reportConnections({ ...parts, database }, { divided: databaseConnections, locks }, others)
  }
  const { blobs: opened, checks } =
    blobUrl === undefined
      ? { blobs: createFileBlobStore(join(dataDir, 'blobs')), checks: {} }
      : blobUrl.startsWith('file:')
        ? await openFolder(fileURLToPath(blobUrl), installation)
        : await openBucket(parts, blobUrl, installation)
  const blobs = createCheckedBlobs(opened, parts.logger)
  return { blobs, checks: { ...checks, attachments: () => blobs.check() } }
}

/** A folder of a shared file system. */
async function openFolder(path: string, installation: Installation): Promise<OpenedBlobs> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const check = await installation.claim(folderStore('blobs file', resolve(path)))
  return { blobs: createFileBlobStore(path), checks: { blobs: check } }
}

async function openBucket(
  { logger, stopping, stops }: BlobParts,
  blobUrl: string,
  installation: Installation,
): Promise<OpenedBlobs> {
  // The client is large, so it is loaded only if it is used.
  const { openS3Blobs, s3PlaceOf } = await import('../storage/s3/blob-store.ts')
  const blobs = await openS3Blobs(s3PlaceOf(blobUrl))
  stops.defer(() => blobs.close())
  const { claimed, check } = claimLater(installation, blobs.marked, { logger, stopping })
  await Promise.race([claimed, pause(CLAIM_MS, stopping)])
  return { blobs, checks: { blobs: () => blobs.marked.read().then(check) } }
}
