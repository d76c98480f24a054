import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { json } from 'node:stream/consumers'

// The least that any server of graphs does for a waited run: one process receives an input over HTTP, a second process
// invokes the graph with it, and the first one responds with the state. This file is the program of both.
const THIS_FILE = fileURLToPath(import.meta.url)

interface Graph {
  invoke(input: object): Promise<object>
}

export interface BareGraphServer extends AsyncDisposable {
  readonly url: string
}

/** Starts the two processes. `graph` is the path of a module that exports `graph`. */
export async function startBareGraphServer(graph: string): Promise<BareGraphServer> {
  const server = fork(THIS_FILE, ['server', graph])
  const [port] = (await once(server, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.disconnect()
      await once(server, 'exit')
    },
  }
}

async function serve(graph: string): Promise<void> {
  const host = fork(THIS_FILE, ['host', graph])
  await once(host, 'message')
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    host.send((await json(request)) as object)
    const [state] = (await once(host, 'message')) as [object]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(state))
  }
  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  process.send?.((server.address() as AddressInfo).port)
  process.once('disconnect', () => process.exit())
}

async function host(path: string): Promise<void> {
  const { graph } = (await import(path)) as { graph: Graph }
  process.on('message', (input: object) => void graph.invoke(input).then((state) => process.send?.(state)))
  process.once('disconnect', () => process.exit())
  process.send?.('loaded')
}

if (process.argv[1] === THIS_FILE) {
  const [, , role, graph = ''] = process.argv
  await (role === 'server' ? serve(graph) : host(graph))
}
