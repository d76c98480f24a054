import type { Clock } from '../base/clock.ts'
import { copyDataFiles, copyIngestLog } from './copied-files.ts'
import type { BackupSource, Manifest, StoreName, TableReader } from './stores.ts'
import { type ArchiveWriter, createArchive } from './write-archive.ts'

/** Reports a step of a backup or restore that has been done. */
export type ReportStep = (step: string) => void

/**
 * Maximum time from the arrival of a request until its data is in the ingest log of this server; for several servers,
 * until another one has stored it, including the difference between two machines' clocks.
 */
export const LATE_MS = { one: 2 * 60_000, several: 15 * 60_000 } as const
const BLOB_MODE = 0o600

/**
 * Writes a backup of everything that was acknowledged before it began. The order makes it consistent while servers write:
 *
 * 1. the ingest log: what has been removed from it is in ClickHouse, which is read later;
 * 2. ClickHouse, derived tables before those that they are made from, so that no row is without its origin. Rows made
 *    during the backup may be missing, so the restore derives what was received since `late_since` again;
 * 3. SQL, both databases at one moment: every project of a stored trace is there;
 * 4. attachments, which are stored before the traces that refer to them;
 * 5. keys, and the files of deployments.
 *
 * @throws AppError backup_unusable for a folder that is not empty
 */
export async function backUp(
  source: BackupSource,
  { dir, version, clock, progress }: { dir: string; version: string; clock: Clock; progress: ReportStep },
): Promise<Manifest> {
  const archive = await createArchive(dir)
  const started = clock.now()
  const { writers } = source
  progress('the ingest log')
  await copyIngestLog(source.dataDir, archive)
  await copyTables('traces', source.traces, archive, progress)
  const { identity, runs } = await source.openSql()
  try {
    await copyTables('identity', identity, archive, progress)
    await copyTables('runs', runs, archive, progress)
  } finally {
    await Promise.all([identity.close(), runs.close()])
  }
  progress('attachments and files')
  await copyBlobs(source.blobs, archive)
  await copyDataFiles(source.dataDir, archive)
  return await archive.finish({
    weir_version: version,
    installation_id: await source.installation_id(),
    started_at: new Date(started).toISOString(),
    finished_at: new Date(clock.now()).toISOString(),
    late_since: writers === 'none' ? null : new Date(started - LATE_MS[writers]).toISOString(),
    versions: { traces: source.traces.version, identity: identity.version, runs: runs.version },
  })
}

async function copyTables(
  store: StoreName,
  reader: TableReader,
  archive: ArchiveWriter,
  progress: ReportStep,
): Promise<void> {
  for (const table of reader.tables) {
    progress(`${store}: ${table}`)
    await archive.table(store, table, await reader.read(table))
  }
}

/** Copies attachments. Blobs that are removed meanwhile are left out, since no trace refers to them. */
async function copyBlobs(blobs: BackupSource['blobs'], archive: ArchiveWriter): Promise<void> {
  for await (const sha256 of blobs.list()) {
    const found = await blobs.read(sha256)
    if (found !== undefined)
      await archive.file(`blobs/${sha256.slice(0, 2)}/${sha256}`, found.bytes, BLOB_MODE)
  }
}
