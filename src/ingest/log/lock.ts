import { randomUUID } from 'node:crypto'
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { folderId } from '../../base/files/folder-id.ts'
import { AppError } from '../../base/errors.ts'

/**
 * Age from which a guard is abandoned: taking over a lock takes milliseconds, so the process of an older guard has
 * ended.
 */
const ABANDONED_GUARD_MS = 10_000

/** The holder of a directory; `started` distinguishes a process from a later one with the same pid, null if unknown. */
interface Owner {
  pid: number
  started: string | null
  /** Id of the directory, so that the lock is invalid in a copy of the directory. Null in locks of earlier versions. */
  folder: string | null
}

/** A held lock; `release` unlocks the directory for the next process. */
export interface DirectoryLock {
  release(): Promise<void>
}

/**
 * Locks the directory for this process. The lock of an ended process is taken over. Processes of other containers or
 * machines are not detected, so a data directory must belong to only one of them. @throws AppError `log_unusable` when
 * a running process holds it
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = join(directory, 'lock')
  const folder = await folderId(directory)
  const owner: Owner = { pid: process.pid, started: await startOf(process.pid), folder }
  const mine = JSON.stringify(owner)
  const draft = `${path}.${randomUUID()}.new`
  await writeFile(draft, mine)
  try {
    // a link appears complete or not at all; if several processes try, one succeeds
    while (!(await created(() => link(draft, path)))) await removeStale(path, directory)
    return { release: () => rm(path, { force: true }) }
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Removes the lock if its process has ended. Only the holder of the guard may do this, so a fresh lock is never
 * removed.
 */
async function removeStale(path: string, directory: string): Promise<void> {
  await refuseIfAlive(path, directory)
  const guard = `${path}.takeover`
  if (!(await created(() => writeFile(guard, '', { flag: 'wx' })))) {
    const since = await madeAt(guard)
    // Another process has just removed the guard; a new try shows the result.
    if (since === null) return
    if (Date.now() - since > ABANDONED_GUARD_MS) return rm(guard, { force: true })
    throw new AppError('log_unusable', { message: `Another process is opening ${directory} right now.` })
  }
  try {
    await refuseIfAlive(path, directory)
    await rm(path, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}

/** Creates a file; returns false if it existed already. */
async function created(create: () => Promise<void>): Promise<boolean> {
  try {
    await create()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function refuseIfAlive(path: string, directory: string): Promise<void> {
  const owner = parseOwner((await readText(path)) ?? '')
  if (owner === null || !(await isAlive(owner))) return
  if (owner.folder !== null && owner.folder !== (await folderId(directory))) return
  const message = `Another server (process ${owner.pid}) runs on ${directory}. Stop it, or set DATA_DIR to another folder.`
  throw new AppError('log_unusable', { message, details: { pid: owner.pid } })
}

function parseOwner(text: string): Owner | null {
  try {
    const { pid, started, folder } = JSON.parse(text) as Partial<Owner>
    if (!Number.isSafeInteger(pid) || pid === undefined || pid <= 0) return null
    const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
    return { pid, started: textOf(started), folder: textOf(folder) }
  } catch {
    return null
  }
}

async function isAlive(owner: Owner): Promise<boolean> {
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const started = await startOf(owner.pid)
  return started === null || owner.started === null || started === owner.started
}

/** When a process started, in clock ticks since boot; `dead` for a zombie; null if /proc has no entry for it. */
async function startOf(pid: number): Promise<string | null> {
  const stat = await readText(`/proc/${pid}/stat`)
  if (stat === null) return null
  // the name, in parentheses, may itself contain spaces and parentheses
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? 'dead' : (fields[19] ?? null)
}

function readText(path: string): Promise<string | null> {
  return ifThere(readFile(path, 'utf8'))
}

/** Creation time of a file in epoch milliseconds; null if there is none. */
async function madeAt(path: string): Promise<number | null> {
  return (await ifThere(stat(path)))?.mtimeMs ?? null
}

async function ifThere<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
}
