import type { Socket } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createExchange } from '../server/exchange.ts'
import { startHttpServer } from '../server/http-server.ts'
import { startSocketServer } from '../server/socket-server.ts'
import { createCustomApp } from './custom-app.ts'
import { createPassedRequests } from './passed-requests.ts'
import { useFolder } from '../../../test/support/folder.ts'

let folder: string
useFolder((made) => void (folder = made))

/** The responses of an app whose middleware matches every path. Paths outside of /mine are routes of Weir. */
async function askThrough(paths: readonly string[]): Promise<string[]> {
  const socket = join(folder, 'app')
  const used = new WeakSet<Socket>()
  const stopApp = await startSocketServer(socket, (req, res) => {
    // Simulates an app that closes an idle connection while it is being reused.
    if (used.has(req.socket)) return void req.socket.destroy()
    used.add(req.socket)
    res.end(req.url)
  })
  const custom = createCustomApp(
    { open: async () => ({ socket, routes: [{ method: 'ALL', path: '/*' }] }) },
    undefined,
    createPassedRequests(),
  )
  const server = await startHttpServer(
    {
      handle(req, res) {
        const exchange = createExchange(req, res)
        const ours = { isOurs: !exchange.path.startsWith('/mine'), isOpen: false, sandboxed: false }
        custom.serve(exchange, ours).catch((error: unknown) => res.writeHead(502).end(String(error)))
      },
    },
    { host: '127.0.0.1', port: 0 },
  )
  const answers: string[] = []
  for (const path of paths) answers.push(await (await fetch(server.url + path)).text())
  await server.stop(0)
  await stopApp()
  return answers
}

it('passes a path of Weir to the app without its trailing slash, which would bypass middleware', async () => {
  const paths = ['/threads/', '/threads/search/?a=/', '/', '/mine/']
  expect(await askThrough(paths)).toEqual(['/threads', '/threads/search?a=/', '/', '/mine/'])
})

it('opens a new connection for each request', async () => {
  expect(await askThrough(['/a', '/b', '/c'])).toEqual(['/a', '/b', '/c'])
})
