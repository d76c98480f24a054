import { mkdtemp, readdir, readlink, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Purpose of a folder in the directory for temporary files. */
export type FolderKind = 'api' | 'app' | 'store' | 'ui'

/** Length of the longest folder name of `makeTemporaryFolder`. */
export const LONGEST_FOLDER_NAME = 'weir-store-4294967295-4194304-XXXXXX'.length

/**
 * Makes a folder in `parent` for this process. Only the owner of the folder may access it. First removes folders of the
 * same kind that ended processes have left behind, for example after `kill -9`.
 */
export async function makeTemporaryFolder(parent: string, kind: FolderKind): Promise<string> {
  const prefix = `weir-${kind}-${await pidNamespace()}-`
  await removeLeftovers(parent, prefix, kind === 'ui' ? removeAll : removeSockets)
  return mkdtemp(join(parent, `${prefix}${process.pid}-`))
}

/**
 * Id of the pid namespace. It is part of the name, because containers may share the parent folder, and a pid is only
 * valid within its namespace.
 */
async function pidNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '')
  return /\d+/.exec(link)?.[0] ?? '0'
}

async function removeLeftovers(
  parent: string,
  prefix: string,
  remove: (folder: string) => Promise<void>,
): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = name.startsWith(prefix) ? /^(\d+)-\w{6}$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (pid === undefined || isAlive(Number(pid))) continue
    // Errors are ignored: a folder that cannot be removed belongs to another user.
    await remove(join(parent, name)).catch(() => undefined)
  }
}

const removeAll = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/**
 * Removes a folder of sockets with the files in it, but does not enter folders in it. Otherwise files elsewhere could
 * be removed: deployed code may create a folder there and replace it by a link.
 */
export async function removeSockets(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  await Promise.all(names.map((name) => unlink(join(folder, name)).catch(() => undefined)))
  await rmdir(folder).catch(() => undefined)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process is running and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
