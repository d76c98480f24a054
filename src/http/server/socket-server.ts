import { chmod } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { holdSocket } from '../../base/node/hold-socket.ts'
import { createServer } from '../../base/node/http.ts'

/**
 * Serves requests on a Unix socket, to which every user with access to its folder can connect; returns a function that
 * stops the server at once.
 */
export async function startSocketServer(
  path: string,
  handle: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<() => Promise<void>> {
  const server = createServer(handle)
  server.requestTimeout = 0
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(path, resolve)
  await promise
  if (process.platform === 'linux')
    await openToAll(path).catch((error: unknown) => {
      server.close()
      throw error
    })
  return () =>
    new Promise((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
}

/**
 * Lets all users connect to the socket. Deployed code may write in the folder and replace the socket by a link, whose
 * target must not be changed.
 */
async function openToAll(path: string): Promise<void> {
  const held = await holdSocket(path)
  if (held === undefined) throw new Error(`${path} is no socket any longer`)
  try {
    await chmod(held.path, 0o666)
  } finally {
    await held.close()
  }
}
