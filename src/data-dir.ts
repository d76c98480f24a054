import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { diskErrorCode } from './base/disk-errors.ts'
import { AppError, ERRORS } from './base/errors.ts'
import { findServer } from './server-address.ts'

const ANOTHER = 'or set DATA_DIR to another folder'
/** Of errors of SQLite, whatever more the upper bits say. */
const SQLITE_CANTOPEN = 14

/**
 * Makes the directory, for its owner only, and keeps what is in it out of a repository that it may lie in.
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
  // An empty one is left where the disk was full.
  if ((await readFile(ignore, 'utf8').catch(() => '')) === '') await writeFile(ignore, '*\n')
}

/** Node answers ENOENT for a folder below one that takes no new folders, such as a read-only disk. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw unusable(`${folder} (DATA_DIR) cannot be made: a folder above it takes no new one. Make it yourself, ${ANOTHER}.`, cause)
  }
}

/** @throws AppError data_dir_unusable when the path, or what should be a folder on the way, is a file */
async function assertNoFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error.code)
  if (found === 'ENOTDIR' || found === 'ENOENT') return assertNoFile(dirname(path))
  if (typeof found !== 'object' || found.isDirectory()) return
  throw unusable(`${path} is a file, and DATA_DIR needs a folder there. Remove it, ${ANOTHER}.`)
}

/** What a start failed with, in words about DATA_DIR where that is the reason; anything else as it is. */
export function toStartError(thrown: unknown, dataDir: string): unknown {
  if (!(thrown instanceof Error)) return thrown
  const { code, path, errcode } = thrown as NodeJS.ErrnoException & { errcode?: number }
  const folder = resolve(dataDir)
  const diskCode = thrown instanceof AppError ? ownDiskCode(thrown) : diskErrorCode(thrown)
  if (diskCode === 'disk_full')
    return unusable(`The disk of ${folder} (DATA_DIR) is full. Make room on it, ${ANOTHER}.`, thrown)
  if (diskCode === 'disk_unwritable')
    return unusable(`The disk of ${folder} (DATA_DIR) takes no writes. Mend that, ${ANOTHER}.`, thrown)
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

/** Undefined for a disk of another machine, which the message names. */
function ownDiskCode({ code, message }: AppError): AppError['code'] | undefined {
  return message === ERRORS[code].message ? code : undefined
}

/** Whether the path is in the folder, the folder itself, or above it. */
function isOnWay(path: string, folder: string): boolean {
  const isIn = (inner: string, outer: string): boolean => !relative(outer, inner).startsWith('..')
  return isIn(path, folder) || isIn(folder, path)
}

function unusable(message: string, cause?: unknown): AppError {
  return new AppError('data_dir_unusable', { message, cause })
}
