import { stat } from 'node:fs/promises'

/**
 * The id of a folder on this machine. It stays the same after a move on the same disk; a copy of the folder has another
 * id.
 */
export async function folderId(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${dev}:${ino}`
}
