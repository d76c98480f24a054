import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A value that this data directory keeps for good, in a file that only its owner may read: made by `make` the first
 * time, and on disk before anyone uses it.
 */
export async function keptValue(dataDir: string, name: string, make: () => string): Promise<string> {
  const path = join(dataDir, name)
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (kept.trim() !== '') return kept.trim()
  await mkdir(dataDir, { recursive: true })
  const value = make()
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(`${value}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return value
}
