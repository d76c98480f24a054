import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from './base/errors.ts'
import { findServer } from './server-address.ts'

/**
 * Makes the directory, for its owner only, and keeps what is in it out of a repository that it may lie in.
 * @throws AppError data_dir_unusable when a server runs on it
 */
export async function prepareDataDir(dataDir: string): Promise<void> {
  const running = await findServer(dataDir)
  if (running !== undefined) {
    throw new AppError('data_dir_unusable', {
      message: `A server runs on ${resolve(dataDir)} already, at ${running.url} (process ${running.pid}). Use that one, stop it, or set DATA_DIR to another folder.`,
    })
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
