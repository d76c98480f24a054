import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, chown, copyFile, lstat, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ProcessUser } from '../../base/node/confined-command.ts'

// Owners of whole folders are changed with the programs `chown` and `chmod`, which follow no links. No process of the
// user may run meanwhile.

const GIVEN = 0o750

/** Makes the user the owner of the folder and everything in it. */
export async function takeFiles(folder: string, { uid, gid }: ProcessUser): Promise<void> {
  await run('chown', ['-R', '-h', '-P', `${uid}:${gid}`, folder])
}

/**
 * Makes the server the owner of the folder and everything in it, and lets only the user read them; done once for each
 * folder.
 */
export async function giveFiles(folder: string, { gid }: ProcessUser): Promise<void> {
  const found = await stat(folder)
  if (found.gid === gid && found.uid === 0 && (found.mode & 0o7777) === GIVEN) return
  const entries = (await readdir(folder)).map((name) => join(folder, name))
  await chmod(folder, 0o700)
  await chown(folder, 0, gid)
  if (entries.length > 0) {
    await separate(entries, folder)
    await run('chown', ['-R', '-h', '-P', `0:${gid}`, ...entries])
    // `find` leaves out links, whose targets `chmod` would change.
    await run('find', [...entries, '!', '-type', 'l', '-exec', 'chmod', 'u=rwX,g=rX,o=', '{}', '+'])
  }
  // This is the last step, because it marks the folder as complete.
  await chmod(folder, GIVEN)
}

/** Maximum bytes of all paths of a project. */
const MAX_PATHS = 256 << 20

/**
 * Replaces files that have several hard links by copies: package managers link packages to their cache, which the user
 * still owns.
 */
async function separate(entries: readonly string[], folder: string): Promise<void> {
  const args = [...entries, '-type', 'f', '-links', '+1', '-print0']
  const { stdout } = await promisify(execFile)('find', args, { maxBuffer: MAX_PATHS })
  const copy = join(folder, randomUUID())
  for (const file of stdout.split('\0').slice(0, -1)) {
    // A copy by Node would have bytes where a sparse file has none.
    if (await isSparse(file)) await run('cp', ['--sparse=always', '--', file, copy])
    else await copyFile(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await rename(copy, file)
  }
}

const BLOCK = 512

async function isSparse(file: string): Promise<boolean> {
  const { size, blocks } = await lstat(file)
  return size > (blocks + 8) * BLOCK
}

async function run(file: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(file, [...args])
}
