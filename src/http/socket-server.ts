import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** Serves requests of this machine on a Unix socket; answers what stops it at once. */
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
