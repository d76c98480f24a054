import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { diskErrorCode } from '../base/files/disk-errors.ts'
import { syncDirectory } from '../base/files/sync-directory.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { findServer } from './server-address.ts'
import { DamagedFile } from '../storage/sql/driver/damaged-file.ts'

const ANOTHER = 'or set DATA_DIR to another folder'
/** Low byte of SQLite's extended result codes. */
const SQLITE_CANTOPEN = 14

/**
 * Creates the directory with owner-only access, and a .gitignore in it, since it is often in a repository.
 * @throws AppError data_dir_unusable when a server runs on it
 */
export async function prepareDataDir(dataDir: string): Promise<void> {
  const running = await findServer(dataDir)
  if (running !== undefined) {
    const where = `${resolve(dataDir)} already, at ${running.url} (process ${running.pid})`
    throw unusable(`A server runs on ${where}. Use that one, stop it, ${ANOTHER}.`)
  }
  await assertNoFile(resolve(dataDir))
  await makeFolder(resolve(dataDir))
  const ignore = join(dataDir, '.gitignore')
  // A full disk may have left an empty file.
  if ((await readFile(ignore, 'utf8').catch(() => '')) === '') await writeFile(ignore, '*\n')
}

/**
 * Creates a folder. If a parent refuses new folders, for example on a read-only disk, Node reports only ENOENT, so this
 * names the cause.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    const first = await makeFolders(folder)
    if (first !== undefined) await syncNames(first, folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw unusable(
      `${folder} (DATA_DIR) cannot be created: a parent folder refuses new folders. Create it yourself, ${ANOTHER}.`,
      cause,
    )
  }
}

/**
 * Creates the folder and its missing parents; returns the first new one. Does not use a recursive `mkdir`, which never
 * ends in folders such as /proc, where nothing can be created.
 */
async function makeFolders(folder: string): Promise<string | undefined> {
  const make = async (): Promise<string | undefined> => {
    try {
      await mkdir(folder, { mode: 0o700 })
      return folder
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EEXIST' || code === 'EISDIR') return undefined
      throw error
    }
  }
  try {
    return await make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error
  }
  const first = await makeFolders(dirname(folder))
  const made = await make()
  return first ?? made
}

/** Makes the names of the new folders from `first` to `last` durable. */
async function syncNames(first: string, last: string): Promise<void> {
  for (let folder = last; ; folder = dirname(folder)) {
    // A parent that this user may not read cannot be synced.
    await syncDirectory(dirname(folder)).catch(() => undefined)
    if (folder === first) return
  }
}

/** @throws AppError data_dir_unusable when the path or one of its parents is a file */
async function assertNoFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error.code)
  if (found === 'ENOTDIR' || found === 'ENOENT') return assertNoFile(dirname(path))
  if (typeof found !== 'object' || found.isDirectory()) return
  throw unusable(`${path} is a file, and DATA_DIR needs a folder there. Set DATA_DIR to another folder.`)
}

/** The error of a failed start: `data_dir_unusable` if DATA_DIR is the cause, otherwise the thrown value. */
export function toStartError(thrown: unknown, dataDir: string): unknown {
  if (!(thrown instanceof Error)) return thrown
  const { code, path, errcode } = thrown as NodeJS.ErrnoException & { errcode?: number }
  if (thrown.cause instanceof DamagedFile) return unusable(thrown.cause.message, thrown.cause)
  const folder = resolve(dataDir)
  const diskCode = thrown instanceof AppError ? ownDiskCode(thrown) : diskErrorCode(thrown)
  if (diskCode === 'disk_full')
    return unusable(`The disk of ${folder} (DATA_DIR) is full. Make room on it, ${ANOTHER}.`, thrown)
  if (diskCode === 'disk_unwritable')
    return unusable(`The disk of ${folder} (DATA_DIR) is not writable. Fix that, ${ANOTHER}.`, thrown)
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined && isOnWay(resolve(path), folder)) {
    const denied = `This user may not write ${path}`
    return unusable(`${denied} (${code}). Give it the folder ${folder}, ${ANOTHER}.`, thrown)
  }
  const sqlite = (errcode ?? 0) & 0xff
  const database = `A database in ${folder} (DATA_DIR) cannot be opened`
  if (sqlite === SQLITE_CANTOPEN)
    return unusable(`${database}. Give this user the folder and all files in it, ${ANOTHER}.`, thrown)
  return thrown
}

/** The code of a disk error; undefined if its message names another disk than that of DATA_DIR. */
function ownDiskCode({ code, message }: AppError): AppError['code'] | undefined {
  return message === ERRORS[code].message ? code : undefined
}

/** Whether the path is the folder, one of its parents, or inside it. */
function isOnWay(path: string, folder: string): boolean {
  const isIn = (inner: string, outer: string): boolean => !relative(outer, inner).startsWith('..')
  return isIn(path, folder) || isIn(folder, path)
}

function unusable(message: string, cause?: unknown): AppError {
  return new AppError('data_dir_unusable', { message, cause })
}
