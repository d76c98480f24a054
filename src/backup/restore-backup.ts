import { createWriteStream } from 'node:fs'
import { lstat, mkdir, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type CopiedFile, unusable } from './archive.ts'
import type { ReportStep } from './back-up.ts'
import { wholeLines } from './lines.ts'
import { type Archive, openArchive } from './read-archive.ts'
import type { Manifest, RestoreTarget, StoreName } from './stores.ts'

/** Size of the pieces in which rows are inserted. */
const PIECE_BYTES = 4 << 20
const STORES: readonly StoreName[] = ['identity', 'runs', 'traces']
const BLOBS = 'blobs/'
/** The bits of a mode that are restored: not those that change the user of a program. */
const PERMISSIONS = 0o777

/**
 * Restores a backup into empty stores. Everything is checked before the first store is written. After a later failure,
 * the stores must be emptied before the next try.
 *
 * @throws AppError backup_unusable for a backup that is damaged or of a later release; store_not_empty
 */
export async function restoreBackup(
  openTarget: () => Promise<RestoreTarget>,
  { dir, progress }: { dir: string; progress: ReportStep },
): Promise<Manifest> {
  const archive = await openArchive(dir)
  const { manifest } = archive
  progress('checking the backup')
  await archive.verify()
  const target = await openTarget()
  for (const store of STORES) await target.stores[store].assertEmpty()
  await target.blobs.assertEmpty()
  for (const store of STORES) await target.stores[store].prepare(manifest.versions[store])
  for (const table of manifest.tables) {
    progress(`${table.store}: ${table.table}`)
    const pieces = wholeLines(archive.lines(table), PIECE_BYTES)
    const rows = await target.stores[table.store].load(table.table, table.columns, pieces)
    if (rows !== table.rows)
      throw unusable(`The table ${table.table} has ${rows} rows, and the manifest says ${table.rows}.`)
  }
  progress('attachments and files')
  for await (const file of archive.files()) if ('sha256' in file) await restoreFile(target, archive, file)
  // Links are restored last, so that no file is written through a link to a place outside of DATA_DIR.
  for await (const file of archive.files()) if ('link' in file) await restoreLink(target, file)
  if (manifest.late_since !== null) {
    progress(`traces received since ${manifest.late_since}, which the first start derives again`)
    await target.repeatSince(new Date(manifest.late_since))
  }
  await target.writeInstallation(manifest.installation_id)
  return manifest
}

async function restoreFile(
  target: RestoreTarget,
  archive: Archive,
  { path, sha256, mode }: Extract<CopiedFile, { sha256: string }>,
): Promise<void> {
  if (path.startsWith(BLOBS))
    return await target.blobs.put([{ sha256, bytes: await buffer(archive.open(path)) }])
  const options = { mode: mode & PERMISSIONS, flags: 'wx', flush: true }
  const written = createWriteStream(await placeOf(target, path), options)
  await pipeline(archive.open(path), written)
}

async function restoreLink(
  target: RestoreTarget,
  { path, link }: Extract<CopiedFile, { link: string }>,
): Promise<void> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const state = await lstat(join(target.dataDir, above)).catch(() => undefined)
    if (state?.isSymbolicLink()) throw unusable(`The backup lists ${path}, which is below the link ${above}.`)
  }
  await symlink(link, await placeOf(target, path))
}

/** The path of a file in DATA_DIR; creates its folder. */
async function placeOf({ dataDir }: RestoreTarget, path: string): Promise<string> {
  const place = join(resolve(dataDir), path)
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  return place
}
