import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The address of the embedded engine of a running server; its password is in a file that only its owner may read. */
export interface EngineAddress {
  readonly url: string
  readonly username: string
  readonly password: string
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'clickhouse-work', 'address.json')
}

/** Writes the address to DATA_DIR; returns the function that removes it. */
export async function announce(
  dataDir: string,
  { url, username, password }: EngineAddress,
): Promise<() => Promise<void>> {
  const path = resolve(fileIn(dataDir))
  await writeFile(`${path}.part`, JSON.stringify({ url, username, password }), { mode: 0o600 })
  await rename(`${path}.part`, path)
  return () => rm(path, { force: true })
}

/** Reads the address of the engine, for another process of this machine; undefined if no engine is running. */
export async function readAddress(dataDir: string): Promise<EngineAddress | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(dataDir), 'utf8')) as EngineAddress
  } catch {
    return undefined
  }
}
