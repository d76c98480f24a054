import { constants } from 'node:buffer'
import { createWriteStream } from 'node:fs'
import { lstat, mkdir, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../base/errors.ts'
import { toDiskError } from '../base/files/disk-errors.ts'
import { type CopiedFile, unusable } from './archive.ts'
import type { ReportStep } from './back-up.ts'
import { wholeLines } from './lines.ts'
import { type Archive, openArchive } from './read-archive.ts'
import type { Manifest, RestoreTarget, StoreName } from './stores.ts'

/** Size of the pieces in which rows are inserted. */
const PIECE_BYTES = 4 << 20
/** Maximum bytes of a row: JavaScript has no longer texts. */
const MAX_ROW_BYTES = constants.MAX_STRING_LENGTH
/** Maximum bytes of an attachment, which is in memory while it is restored. */
const MAX_BLOB_BYTES = 1 << 30
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
  await archive.verify().catch(notRestored('The backup'))
  const target = await openTarget()
  for (const store of STORES) await target.stores[store].assertEmpty()
  await target.blobs.assertEmpty()
  for (const store of STORES) await target.stores[store].prepare(manifest.versions[store])
  for (const table of manifest.tables) {
    progress(`${table.store}: ${table.table}`)
    const pieces = wholeLines(archive.lines(table), { size: PIECE_BYTES, max_line: MAX_ROW_BYTES })
    const loaded = target.stores[table.store].load(table.table, table.columns, pieces)
    const rows = await loaded.catch(notRestored(`The table ${table.table}`))
    if (rows !== table.rows)
      throw unusable(`The table ${table.table} has ${rows} rows, and the manifest says ${table.rows}.`)
  }
  progress('attachments and files')
  for await (const file of archive.files())
    if (!('link' in file)) await restoreFile(target, archive, file).catch(notRestored(file.path))
  // Links are restored last, so that no file is written through a link to a place outside of DATA_DIR.
  for await (const file of archive.files())
    if ('link' in file) await restoreLink(target, file).catch(notRestored(file.path))
  if (manifest.late_since !== null) {
    progress(`traces received since ${manifest.late_since}, which the first start derives again`)
    await target.repeatSince(new Date(manifest.late_since))
  }
  await target.writeInstallation(manifest.installation_id)
  return manifest
}

/** A handler of errors that have no code yet, such as that of a file which the backup lists twice. */
function notRestored(what: string): (cause: unknown) => never {
  return (cause) => {
    throw cause instanceof AppError
      ? cause
      : (toDiskError(cause) ?? unusable(`${what} cannot be restored.`, cause))
  }
}

async function restoreFile(
  target: RestoreTarget,
  archive: Archive,
  { path, bytes, sha256, mode }: Extract<CopiedFile, { sha256: string }>,
): Promise<void> {
  if (path.startsWith(BLOBS) && bytes > MAX_BLOB_BYTES)
    throw unusable(`${path} has ${bytes} bytes, and an attachment has at most ${MAX_BLOB_BYTES}.`)
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
