import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../base/files/sync-directory.ts'
import { newUuid } from '../../base/ids.ts'

/**
 * Returns a persistent value of this data directory, from a file that only its owner may read. If there is no file,
 * `make` makes the value, which is on disk before it is returned. Rejects if the file exists but cannot be read; the
 * value is never replaced.
 */
export async function keptValue(dataDir: string, name: string, make: () => string): Promise<string> {
  const path = join(dataDir, name)
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (kept.trim() !== '') return kept.trim()
  await mkdir(dataDir, { recursive: true })
  const value = make()
  await replaceFile(path, `${value}\n`)
  await syncDirectory(dataDir)
  return value
}

/**
 * Replaces a file atomically: it contains either the whole new text or its previous content, even if the process is
 * killed or the disk becomes full.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  // In a folder that servers share, another server may write the same file at the same time.
  const part = `${path}.${newUuid()}.part`
  try {
    const file = await open(part, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
