import { setFlagsFromString } from 'node:v8'
import { readConfig } from '../config.ts'
import { startServer } from '../server.ts'
import { stopSignal } from './stop-signal.ts'
import { serveWelcome } from './welcome.ts'

/** `weir serve`: runs the server until SIGINT or SIGTERM; a second signal ends it at once. */
export async function serve(): Promise<number> {
  // Bodies pass through memory outside of the heap; by default every 64 MB of them cost a full collection.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const config = readConfig()
  const stopping = stopSignal()
  const server = await startServer(config)
  if (process.stdout.isTTY || server.isFirst || server.identity.replaced || server.movedPorts.length > 0)
    console.error(serveWelcome(server, config))
  await stopping
  await server.stop()
  return 0
}
