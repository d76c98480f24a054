import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArchiveWriter } from './write-archive.ts'

/** Single files of DATA_DIR that a backup copies; files that a start creates again are left out. */
const SINGLE_FILES = ['secrets-key', 'webhook-secret', 'api-key']
/**
 * Folders below `deployments` that a server can create again. The homes and caches in `users` belong to user ids of
 * this server, so a copy would be useless on another server.
 */
const CREATED_AGAIN = new Set(['builds', 'cache', 'users'])

/**
 * Copies the ingest log. The position is copied first, so that it is never after the end of the copied segments. The
 * content of a segment that is removed meanwhile is in ClickHouse, which is read later.
 */
export async function copyIngestLog(dataDir: string, archive: ArchiveWriter): Promise<void> {
  const names = await namesIn(join(dataDir, 'ingest-log'))
  const segments = names.filter((name) => /^\d{12}\.log$/.test(name)).sort()
  for (const name of ['position', ...segments]) await copyEntry(dataDir, `ingest-log/${name}`, archive)
}

/** Copies the keys of DATA_DIR, and sources and builds of deployments. */
export async function copyDataFiles(dataDir: string, archive: ArchiveWriter): Promise<void> {
  for (const name of SINGLE_FILES) await copyFile(dataDir, name, archive)
  for (const name of await namesIn(join(dataDir, 'deployments')))
    if (!CREATED_AGAIN.has(name)) await copyEntry(dataDir, `deployments/${name}`, archive)
}

/** Copies a file, a link as a link, or a folder with its content. Files that disappear meanwhile are left out. */
async function copyEntry(root: string, path: string, archive: ArchiveWriter): Promise<void> {
  const entry = join(root, path)
  const state = await existing(lstat(entry))
  if (state === undefined) return
  if (state.isSymbolicLink()) return await archive.link(path, await readlink(entry))
  if (state.isFile()) return await copyFile(root, path, archive)
  if (!state.isDirectory()) return
  for (const name of await namesIn(entry)) await copyEntry(root, `${path}/${name}`, archive)
}

/** Copies a file, or the target of a link. */
async function copyFile(root: string, path: string, archive: ArchiveWriter): Promise<void> {
  const file = await existing(open(join(root, path)))
  if (file === undefined) return
  const { mode } = await file.stat()
  await archive.file(path, file.createReadStream(), mode)
}

async function namesIn(dir: string): Promise<string[]> {
  return (await existing(readdir(dir))) ?? []
}

/** The result of `work`; undefined if the file or folder does not exist. */
async function existing<T>(work: Promise<T>): Promise<T | undefined> {
  return await work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
