import { stat } from 'node:fs/promises'

/** Identifies a folder on this machine: it survives a move on the same disk, and a copy of the folder has another id. */
export async function folderId(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${dev}:${ino}`
}
