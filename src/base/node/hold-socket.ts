import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Flag of Linux: opens a file of any kind without access to its content, so that its descriptor names the file. */
const O_PATH = 0o10000000

/** A socket that stays reachable after another file has taken its path. */
interface HeldSocket {
  /** A path that leads to the socket until `close` is called. */
  path: string
  close(): Promise<void>
}

/**
 * Holds the current socket at `path`, on Linux; undefined for another kind of file. Untrusted code can replace the file
 * at `path`, and a link would lead the server to sockets that the code itself cannot reach.
 */
export async function holdSocket(path: string): Promise<HeldSocket | undefined> {
  const file = await open(path, O_PATH | constants.O_NOFOLLOW)
  if ((await file.stat()).isSocket()) return { path: `/proc/self/fd/${file.fd}`, close: () => file.close() }
  await file.close()
  return undefined
}
