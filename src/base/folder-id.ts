import { stat } from 'node:fs/promises'

/** Tells a folder from every other one on this machine, from a copy of it as well; the same after it was moved. */
export async function folderId(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${dev}:${ino}`
}
