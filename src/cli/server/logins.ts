import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isObject } from '../../schema/json.ts'

/** A token of `weir login`. */
export interface Login {
  key: string
  /** ISO 8601; null for never. */
  expires_at: string | null
}

/** The tokens of `weir login` by the address of their server; none for a file that cannot be read. */
export async function readLogins(file: string): Promise<Record<string, Login>> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isObject(value)) return {}
    const all = Object.entries(value).filter(
      ([, login]) => isObject(login) && typeof login['key'] === 'string',
    )
    return Object.fromEntries(all) as unknown as Record<string, Login>
  } catch {
    return {}
  }
}

/** Keeps the token of a server in the file, which only its owner can read. */
export async function keepLogin(file: string, url: string, login: Login): Promise<void> {
  const logins = { ...(await readLogins(file)), [url]: login }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600 })
  await rename(unfinished, file)
}
