import { setFlagsFromString } from 'node:v8'
import { readConfig } from '../config.ts'
import { startServer, type WeirServer } from '../server.ts'
import { stopSignal } from './stop-signal.ts'

/** `weir serve`: runs the server until SIGINT or SIGTERM; a second signal ends it at once. */
export async function serve(): Promise<number> {
  // Bodies pass through memory outside of the heap; by default every 64 MB of them cost a full collection.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const config = readConfig()
  const stopping = stopSignal()
  const server = await startServer(config)
  if (process.stdout.isTTY || server.identity.created) console.error(welcome(server, config.dataDir))
  await stopping
  await server.stop()
  return 0
}

/** How to point a client here. The key is shown when it was made now; later it is in the data directory. */
function welcome({ url, deploymentUrl, identity }: WeirServer, dataDir: string): string {
  const key = identity.created && identity.key !== undefined ? identity.key : `$(cat ${dataDir}/api-key)`
  const deployment =
    deploymentUrl === undefined
      ? ''
      : `
Point a LangGraph client at ${deploymentUrl}, with the same key.
`
  return `
Weir listens on ${url}

Point a LangSmith client at it:
  export LANGSMITH_TRACING=true
  export LANGSMITH_ENDPOINT=${url}
  export LANGSMITH_API_KEY=${key}
${deployment}
API documentation: ${url}/docs
`
}
