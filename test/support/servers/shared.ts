import { inject } from 'vitest'
import type { Shared } from './shared-servers.ts'

/** Requests the use of a shared server. */
export async function shared<Path extends keyof Shared>(path: Path, id = ''): Promise<Shared[Path]> {
  const response = await fetch(`${inject('sharedServers')}${path}?id=${id}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text) as Shared[Path]
}
