import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Linux: opens the file itself, whatever it is, only to name it. */
const O_PATH = 0o10000000

/** A socket whatever takes its place. */
interface HeldSocket {
  /** Leads to it until it is closed. */
  path: string
  close(): Promise<void>
}

/**
 * Holds the socket that is at `path` now, on Linux; undefined for another kind of file. Code that is not trusted can put
 * another file there: a link would lead the server to what that code itself cannot reach.
 */
export async function holdSocket(path: string): Promise<HeldSocket | undefined> {
  const file = await open(path, O_PATH | constants.O_NOFOLLOW)
  if ((await file.stat()).isSocket()) return { path: `/proc/self/fd/${file.fd}`, close: () => file.close() }
  await file.close()
  return undefined
}
