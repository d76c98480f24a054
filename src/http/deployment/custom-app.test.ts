import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createExchange } from '../exchange.ts'
import { startHttpServer } from '../http-server.ts'
import { startSocketServer } from '../socket-server.ts'
import { createCustomApp } from './custom-app.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-custom-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Answers of an app that shows its middleware every path: each request is for a route of Weir, but under /mine. */
async function askThrough(paths: readonly string[]): Promise<string[]> {
  const socket = join(folder, 'app')
  const used = new WeakSet<Socket>()
  const stopApp = await startSocketServer(socket, (req, res) => {
    // The connection has been idle for so long that the app closes it just now.
    if (used.has(req.socket)) return void req.socket.destroy()
    used.add(req.socket)
    res.end(req.url)
  })
  const custom = createCustomApp(
    { open: async () => ({ socket, routes: [{ method: 'ALL', path: '/*' }] }) },
    undefined,
  )
  const server = await startHttpServer(
    {
      handle(req, res) {
        const exchange = createExchange(req, res)
        const ours = { isOurs: !exchange.path.startsWith('/mine'), isOpen: false }
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

it('an app sees the path of a route of Weir without the slash that may end it: its middleware cannot be avoided by one', async () => {
  const paths = ['/threads/', '/threads/search/?a=/', '/', '/mine/']
  expect(await askThrough(paths)).toEqual(['/threads', '/threads/search?a=/', '/', '/mine/'])
})

it('an app gets each request over a connection of its own, none over one that it is about to close', async () => {
  expect(await askThrough(['/a', '/b', '/c'])).toEqual(['/a', '/b', '/c'])
})
