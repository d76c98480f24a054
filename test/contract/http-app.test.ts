import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/base/log.ts'
import { createHttpApp, type HttpApp } from '../../src/graph/http-app.ts'
import { startSocketServer } from '../../src/http/socket-server.ts'

let project: string
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'weir-http-app-'))
})
afterAll(() => rm(project, { recursive: true, force: true }))

async function appOf(source: string): Promise<HttpApp> {
  const file = join(project, 'app.mjs')
  await writeFile(file, source)
  return createHttpApp({
    file: { folder: project, env: {}, app: { file, export: 'app' } },
    environment: process.env,
    logger: createLogger({ level: 'silent' }),
    record: async () => async () => undefined,
  })
}

function get(socketPath: string, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request({ socketPath, path, headers: { host: 'localhost' } }, (answer) => {
    let text = `${answer.statusCode} `
    answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    answer.on('end', () => resolve(text))
  })
    .once('error', reject)
    .end()
  return promise
}

describe('the HTTP app of a project', () => {
  it('may be any object with a fetch handler, and asks its own deployment', async () => {
    const app = await appOf(`
      // As a client does that is made at the top of a module.
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

  it('says which routes it has, and leaves the rest to those of Weir', async () => {
    const app = await appOf(`
      import { Hono } from 'hono'
      export const app = new Hono().get('/mine/:id', (c) => c.text('mine')).use('/both/*', (c, next) => next())`)
    const stop = await startSocketServer(app.core, (req, res) => res.end(`core ${req.method} ${req.url}`))
    const { socket, routes } = await app.open()
    expect(routes).toEqual([
      { method: 'GET', path: '/mine/:id' },
      { method: 'ALL', path: '/both/*' },
    ])
    expect(await get(socket, '/mine/1')).toBe('200 mine')
    expect(await get(socket, '/both/1?a=b')).toBe('200 core GET /both/1?a=b')
    await stop()
    await app.stop()
  })

  it('that cannot be loaded, or is none, says why', async () => {
    for (const [source, reason] of [
      ['throw new Error("no database")', /no database/],
      ['export const app = 7', /neither a Hono app nor/],
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
