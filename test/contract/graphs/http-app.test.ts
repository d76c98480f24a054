import { mkdir, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { WEBHOOK_HEADER } from '../../../src/base/app-headers.ts'
import { createLogger } from '../../../src/base/log.ts'
import { readGraphSpec } from '../../../src/graph/project/graph-spec.ts'
import { createHttpApp, type HttpApp } from '../../../src/graph/http-app/http-app.ts'
import { startSocketServer } from '../../../src/http/server/socket-server.ts'
import { eventually } from '../../support/eventually.ts'
import { useFolder } from '../../support/folder.ts'

let project: string
useFolder((folder) => void (project = folder))

async function appOf(source: string, mask?: (text: string) => string): Promise<HttpApp> {
  const file = join(project, 'app.mjs')
  await writeFile(file, source)
  return createHttpApp({
    file: { folder: project, env: {}, app: readGraphSpec(`${file}:app`, project) },
    environment: process.env,
    logger: createLogger({ level: 'silent' }),
    mask,
    record: async () => async () => undefined,
  })
}

function get(socketPath: string, path: string): Promise<string> {
  return send(socketPath, 'GET', path)
}

function send(
  socketPath: string,
  method: string,
  path: string,
  body = '',
  headers: Record<string, string> = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const all = { host: 'localhost', ...length, ...headers }
  request({ socketPath, method, path, headers: all }, (answer) => {
    text(answer).then((content) => resolve(`${answer.statusCode} ${content}`), reject)
  })
    .once('error', reject)
    .end(body)
  return promise
}

/** Answers with the request that it received. */
function echo(req: IncomingMessage, res: ServerResponse): void {
  void text(req).then((body) => res.end(`core ${req.method} ${req.url} ${body}`))
}

describe('the HTTP app of a project', () => {
  it('may be any object with a fetch handler, and can call its own deployment', async () => {
    const app = await appOf(`
      // Like a client that is created at the top level of a module.
      const loopback = globalThis[Symbol.for('langgraph_api:fetch')]
      const ask = (path) => loopback('http://localhost' + path)
      export const app = {
        async fetch(request) {
          const { pathname } = new URL(request.url)
          return new Response(pathname + ' ' + (await (await ask('/info')).text()))
        },
      }`)
    const stop = await startSocketServer(app.inner, (req, res) => res.end(`inner ${req.url}`))
    const { socket, routes } = await app.open()
    expect(routes).toBeNull()
    expect(await get(socket, '/mine')).toBe('200 /mine inner /info')
    await stop()
    await app.stop()
  })

  it('aborts a stream of its own deployment, however long the stream has been open', async () => {
    const app = await appOf(`
      import { setFlagsFromString } from 'node:v8'
      import { runInNewContext } from 'node:vm'
      import { setTimeout as wait } from 'node:timers/promises'
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc')
      export const app = {
        async fetch() {
          const stop = new AbortController()
          const ask = globalThis[Symbol.for('langgraph_api:fetch')]
          const reader = (await ask('http://localhost/stream', { signal: stop.signal })).body.getReader()
          await reader.read()
          // Long enough for the collection of every object without a reference.
          for (let round = 0; round < 5; round++) {
            collect()
            await wait(10)
          }
          stop.abort()
          return new Response(await reader.read().then(() => 'goes on', () => 'aborted'))
        },
      }`)
    const left = Promise.withResolvers<void>()
    const stop = await startSocketServer(app.inner, (_req, res) => {
      res.once('close', left.resolve)
      res.write('first')
    })
    const { socket } = await app.open()
    expect(await get(socket, '/mine')).toBe('200 aborted')
    await left.promise
    await stop()
    await app.stop()
  })

  it('reports its routes, and passes other requests to the routes of Weir', async () => {
    const app = await appOf(`
      import { Hono } from 'hono'
      export const app = new Hono().get('/mine/:id', (c) => c.text('mine')).use('/both/*', (c, next) => next())`)
    const used = new WeakSet<object>()
    const stop = await startSocketServer(app.core, (req, res) => {
      // Acts as a server that closes an idle connection at the moment when it is used again.
      if (used.has(req.socket)) return void req.socket.destroy()
      used.add(req.socket)
      res.end(`core ${req.method} ${req.url}`)
    })
    const { socket, routes } = await app.open()
    expect(routes).toEqual([
      { method: 'GET', path: '/mine/:id' },
      { method: 'ALL', path: '/both/*' },
    ])
    expect(await get(socket, '/mine/1')).toBe('200 mine')
    expect(await get(socket, '/both/1?a=b')).toBe('200 core GET /both/1?a=b')
    expect(await get(socket, '/both/2')).toBe('200 core GET /both/2')
    await stop()
    await app.stop()
  })

  it('passes on a body with any method, framed so that it is not read as another request', async () => {
    const app = await appOf(`
      import { Hono } from 'hono'
      export const app = new Hono()
        .use('/read/*', async (c, next) => { await c.req.text(); await next() })
        .use('/changed/*', async (c, next) => { c.req.bodyCache.text = Promise.resolve('changed'); await next() })
        .use((c, next) => next())`)
    const arrived: string[] = []
    const stop = await startSocketServer(app.core, (req, res) => {
      arrived.push(`${req.method} ${req.url}`)
      echo(req, res)
    })
    const { socket } = await app.open()
    const hidden = 'GET /hidden HTTP/1.1\r\nhost: localhost\r\n\r\n'
    for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
      for (const path of ['/as-is', '/read/it'])
        expect(await send(socket, method, path, hidden)).toBe(`200 core ${method} ${path} ${hidden}`)
      expect(await send(socket, method, '/as-is')).toBe(`200 core ${method} /as-is `)
    }
    expect(arrived).toHaveLength(15)
    expect(arrived).not.toContain('GET /hidden')
    const json = { 'content-type': 'application/json' }
    expect(await send(socket, 'DELETE', '/changed/it', '{}', json)).toBe(
      '200 core DELETE /changed/it changed',
    )
    // A middleware may read the body as text: it need not be JSON unless the route requires it.
    expect(await send(socket, 'POST', '/read/it', '{"a"', json)).toBe('200 core POST /read/it {"a"')
    expect(await get(socket, '/read/it')).toBe('200 core GET /read/it ')
    await stop()
    await app.stop()
  })

  it('HOOK-9: gets webhooks for its own routes only, never for those of Weir', async () => {
    const app = await appOf(`
      import { Hono } from 'hono'
      export const app = new Hono().use((c, next) => next()).post('/hook', async (c) => c.text(await c.req.text()))`)
    const stop = await startSocketServer(app.core, echo)
    const { socket } = await app.open()
    const webhook = { [WEBHOOK_HEADER]: 'run' }
    expect(await send(socket, 'POST', '/hook', '{}', webhook)).toBe('200 {}')
    expect(await send(socket, 'POST', '/threads/prune', '{}', webhook)).toMatch(/^404 /)
    expect(await send(socket, 'POST', '/threads/prune', '{}')).toBe('200 core POST /threads/prune {}')
    await stop()
    await app.stop()
  })

  it('works when the path of the temporary folder is too long for a socket', async () => {
    const deep = join(project, 'a'.repeat(60), 'b'.repeat(60))
    await mkdir(deep, { recursive: true })
    vi.stubEnv('TMPDIR', deep)
    const app = await appOf('export const app = () => new Response("here")').finally(() => vi.unstubAllEnvs())
    const stop = await startSocketServer(app.core, echo)
    expect(await get((await app.open()).socket, '/')).toBe('200 here')
    await stop()
    await app.stop()
  })

  it('that ends with each request is started again three times at once, and then once a second', async () => {
    const app = await appOf('export const app = { fetch() { process.exit(1) } }')
    const sockets = new Set<string>()
    const crash = async (): Promise<void> => {
      const { socket } = await app.open()
      sockets.add(socket)
      await get(socket, '/').catch(() => undefined)
    }
    const crashAgain = async (): Promise<void> => {
      for (;;) await crash()
    }
    await expect(crashAgain()).rejects.toMatchObject({
      code: 'app_unavailable',
      message: expect.stringContaining('has ended'),
    })
    expect(sockets.size).toBe(4)
    await eventually(() => app.open())
    await app.stop()
  })

  it('P-16: of a deployment is reported without the values of its secrets', async () => {
    const app = await appOf('throw new Error("bad key abc-123")', (text) => text.replaceAll('abc-123', '***'))
    await expect(app.open()).rejects.toMatchObject({ message: expect.stringContaining('bad key ***') })
    await app.stop()
  })

  it('that cannot be loaded, or is not an app, is reported with the reason', async () => {
    for (const [source, reason] of [
      ['throw new Error("no database")', /no database/],
      ['export const app = 7', /is not a Hono app and has no "fetch" handler/],
      ['export const other = {}', /has no export "app"/],
    ] as const) {
      const app = await appOf(source)
      await expect(app.open()).rejects.toMatchObject({
        code: 'app_unavailable',
        message: expect.stringMatching(reason),
      })
      await app.stop()
    }
  })
})
