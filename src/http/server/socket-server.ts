import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from '../../base/node/http.ts'

/** Serves requests on a Unix socket; returns a function that stops the server at once. */
export async function startSocketServer(
  path: string,
  handle: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<() => Promise<void>> {
  const server = createServer(handle)
  server.requestTimeout = 0
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(path, resolve)
  await promise
  return () =>
    new Promise((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
}
