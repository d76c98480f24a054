import { writeFile } from 'node:fs/promises'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { CALLER_HEADER, WEBHOOK_HEADER } from '../../../src/base/app-headers.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createHttpApp, type HttpApp } from '../../../src/graph/http-app/http-app.ts'
import { readGraphSpec } from '../../../src/graph/project/graph-spec.ts'
import { startSocketServer } from '../../../src/http/server/socket-server.ts'
import { eventually } from '../../support/eventually.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { useFolder } from '../../support/folder.ts'

const ENVIRONMENT = join(PYTHON, '..', '..')
const WITHOUT = withoutPython()

/**
 * An app with routes of its own and a startup handler; with `middleware` also with a middleware that gets all requests.
 */
const APP = `
import asyncio
from contextlib import asynccontextmanager
from langgraph_sdk import get_client
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route

early = get_client(api_key=None)

@asynccontextmanager
async def lifespan(app):
    yield {"started": "yes"}
    print("the app shuts down", flush=True)

async def mine(request):
    return PlainTextResponse(f"mine {request.path_params['id']} {request.state.started}")

async def whoami(request):
    return JSONResponse({"user": request.user.identity, "scopes": request.auth.scopes})

async def info(request):
    late = get_client(api_key=None)
    return JSONResponse([await early.http.get("/info"), await late.http.get("/info")])

left = asyncio.Event()

async def endless(request):
    async def lines():
        try:
            while True:
                yield "x" * 1024
                await asyncio.sleep(0.001)
        finally:
            left.set()
    return StreamingResponse(lines())

async def has_left(request):
    await left.wait()
    return PlainTextResponse("left")

async def fail(request):
    raise RuntimeError("a fault of the app")

async def upload(request):
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
    return PlainTextResponse(str(size))

ROUTES = [
    Route("/mine/{id}", mine), Route("/me", whoami), Route("/info/twice", info), Route("/endless", endless),
    Route("/left", has_left), Route("/fail", fail), Route("/upload", upload, methods=["POST"]),
    Route("/hook", upload, methods=["POST"]), Route("/slash/", upload, methods=["GET"]),
    Mount("/files", PlainTextResponse("a file")),
]
app = Starlette(routes=ROUTES, lifespan=lifespan)
`
const MIDDLEWARE = `${APP}
class Reads:
    def __init__(self, app):
        self.app = app
    async def __call__(self, scope, receive, send):
        async def marked(message):
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-marked", b"yes")]
            await send(message)
        await self.app(scope, receive, marked)
app.add_middleware(Reads)
`
/** A FastAPI app with a router, a dependency, and validation of bodies. */
const FASTAPI = `
from contextlib import asynccontextmanager
from typing import Annotated
from fastapi import APIRouter, Depends, FastAPI, Request
from pydantic import BaseModel

@asynccontextmanager
async def lifespan(app):
    app.state.started = "yes"
    yield

class Order(BaseModel):
    item: str
    count: int = 1

def caller(request: Request) -> str:
    return request.user.identity

orders = APIRouter(prefix="/orders", tags=["orders"])

@orders.post("/{shop}", status_code=201)
async def order(shop: str, order: Order, by: Annotated[str, Depends(caller)]):
    return {"shop": shop, "by": by, **order.model_dump()}

@orders.get("/{shop}/{path:path}")
def read(shop: str, path: str):
    return [shop, path]

app = FastAPI(lifespan=lifespan)
app.include_router(orders, prefix="/v1")

@app.get("/started")
async def started(request: Request, n: int):
    return {"started": request.app.state.started, "n": n}
`

let project: string

let apps = 0
const printed: string[] = []
async function fileOf(source: string) {
  const name = `app_${++apps}.py`
  await writeFile(join(project, name), source)
  return { folder: project, env: {}, app: readGraphSpec(`./${name}:app`, project) }
}

async function appOf(source: string): Promise<HttpApp> {
  return createHttpApp({
    file: await fileOf(source),
    environment: { PATH: process.env['PATH'], VIRTUAL_ENV: ENVIRONMENT },
    logger: createLogger({ level: 'silent' }),
    printed: (_from, line) => void printed.push(line),
    record: async () => async () => undefined,
  })
}

interface Asked {
  method?: string
  body?: string | Buffer
  headers?: Record<string, string>
}

function send(socketPath: string, path: string, { method = 'GET', body = '', headers }: Asked = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ said: string; answer: IncomingMessage }>()
  const length = body.length === 0 ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const all = { host: 'localhost', ...length, ...headers }
  request({ socketPath, agent: false, method, path, headers: all }, (answer) => {
    text(answer).then((content) => resolve({ said: `${answer.statusCode} ${content}`, answer }), reject)
  })
    .once('error', reject)
    .end(body)
  return promise
}

const said = async (...asked: Parameters<typeof send>): Promise<string> => (await send(...asked)).said

/** Answers with the request that it received. */
function echo(req: IncomingMessage, res: ServerResponse): void {
  void text(req).then((body) => res.end(`core ${req.method} ${req.url} ${body}`))
}

/** Registers the tests of apps in Python, and the hooks that make and remove their folder. */
export function asgiAppTests(extent: 'main case' | 'every case'): void {
  describe.skipIf(WITHOUT !== '')(`P-30: the ASGI app of a project${WITHOUT}`, () => {
    useFolder(async (made) => {
      project = made
    })

    it('reports its routes, has its startup and its user, and passes other requests to the routes of Weir', async () => {
      const app = await appOf(APP)
      const stops = [await startSocketServer(app.core, echo)]
      stops.push(await startSocketServer(app.inner, (req, res) => res.end(`{"inner":"${req.url}"}`)))
      const { socket, routes } = await app.open()
      expect(routes).toEqual(
        expect.arrayContaining([
          { method: 'GET', path: '/mine/:id' },
          { method: 'POST', path: '/upload' },
          { method: 'ALL', path: '/files/*' },
        ]),
      )
      expect(await said(socket, '/mine/1')).toBe('200 mine 1 yes')
      expect(await said(socket, '/files/deep/one')).toBe('200 a file')
      expect(await said(socket, '/mine/1', { method: 'HEAD' })).toBe('200 ')
      const caller = { user: { identity: 'ada' }, scopes: ['chat'] }
      const headers = { [CALLER_HEADER]: Buffer.from(JSON.stringify(caller)).toString('base64') }
      expect(await said(socket, '/me', { headers })).toBe('200 {"user":"ada","scopes":["chat"]}')
      expect(await said(socket, '/info/twice')).toBe('200 [{"inner":"/info"},{"inner":"/info"}]')
      expect(await said(socket, '/threads?a=b%20c')).toBe('200 core GET /threads?a=b%20c ')
      // The app has this path only with another method, so Weir answers.
      expect(await said(socket, '/upload')).toBe('200 core GET /upload ')
      expect(await said(socket, '/slash')).toMatch(/^307 /)
      expect(await said(socket, '/fail')).toBe('500 Internal Server Error')
      for (const stop of stops) await stop()
      await app.stop()
    })

    it('may answer before it has read the body, as may the routes of Weir', async () => {
      const app = await appOf(APP)
      const stop = await startSocketServer(app.core, (_req, res) => res.writeHead(413).end('too large'))
      const { socket } = await app.open()
      const body = Buffer.alloc(8 << 20, 1)
      for (let turn = 0; turn < 5; turn++) {
        expect(await said(socket, '/files/one', { method: 'POST', body })).toBe('200 a file')
        expect(await said(socket, '/fail', { method: 'GET', body })).toBe('500 Internal Server Error')
        expect(await said(socket, '/threads', { method: 'POST', body })).toBe('413 too large')
      }
      await stop()
      await app.stop()
    })

    if (extent === 'main case') return

    it('streams in both directions, and ends a response whose client leaves', async () => {
      const app = await appOf(APP)
      const { socket } = await app.open()
      const body = Buffer.alloc(8 << 20, 1)
      expect(await said(socket, '/upload', { method: 'POST', body })).toBe(`200 ${body.length}`)
      const { promise: first, resolve } = Promise.withResolvers<void>()
      const asked = request({ socketPath: socket, agent: false, path: '/endless' }, (answer) =>
        answer.once('data', resolve),
      )
      asked.on('error', () => undefined).end()
      await first
      asked.destroy()
      expect(await said(socket, '/left')).toBe('200 left')
      await app.stop()
    })

    it('has its shutdown when it is stopped, and when it is loaded again', async () => {
      const app = await appOf(APP)
      const shutDowns = () => printed.filter((line) => line === 'the app shuts down').length
      await app.open()
      const before = shutDowns()
      app.reload(await fileOf(APP))
      await app.open()
      await eventually(async () => expect(shutDowns()).toBe(before + 1))
      await app.stop()
      expect(shutDowns()).toBe(before + 2)
    })

    it('has middleware for the routes of Weir; a body is framed so that it is not read as another request', async () => {
      const app = await appOf(MIDDLEWARE)
      const arrived: string[] = []
      const stop = await startSocketServer(app.core, (req, res) => {
        arrived.push(`${req.method} ${req.url}`)
        echo(req, res)
      })
      const { socket, routes } = await app.open()
      expect(routes).toEqual([{ method: 'ALL', path: '/*' }])
      const hidden = 'GET /hidden HTTP/1.1\r\nhost: localhost\r\n\r\n'
      for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
        const { said: text, answer } = await send(socket, '/as-is', { method, body: hidden })
        expect([text, answer.headers['x-marked']]).toEqual([`200 core ${method} /as-is ${hidden}`, 'yes'])
      }
      expect(arrived).toHaveLength(5)
      const headers = { [WEBHOOK_HEADER]: 'run' }
      expect(await said(socket, '/hook', { method: 'POST', body: '{}', headers })).toBe('200 2')
      expect(await said(socket, '/threads/prune', { method: 'POST', body: '{}', headers })).toMatch(/^404 /)
      expect(arrived).toHaveLength(5)
      await stop()
      await app.stop()
    })

    it('may be one of FastAPI, whose own pages do not hide those of Weir', async () => {
      const app = await appOf(FASTAPI)
      const stop = await startSocketServer(app.core, echo)
      const { socket, routes } = await app.open()
      expect(routes?.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
        { method: 'GET', path: '/started' },
        { method: 'POST', path: '/v1/orders/:shop' },
        { method: 'GET', path: '/v1/orders/:shop/*' },
      ])
      const caller = { user: { identity: 'ada' }, scopes: [] }
      const headers = {
        [CALLER_HEADER]: Buffer.from(JSON.stringify(caller)).toString('base64'),
        'content-type': 'application/json',
      }
      const post = (body: string) => said(socket, '/v1/orders/paris', { method: 'POST', headers, body })
      expect(await post('{"item":"tea","count":2}')).toBe(
        '201 {"shop":"paris","by":"ada","item":"tea","count":2}',
      )
      expect(await post('{"count":"many"}')).toMatch(/^422 .*"missing".*"int_parsing"/)
      expect(await said(socket, '/v1/orders/paris/a/b')).toBe('200 ["paris","a/b"]')
      expect(await said(socket, '/started?n=4')).toBe('200 {"started":"yes","n":4}')
      expect(await said(socket, '/started?n=x')).toMatch(/^422 /)
      for (const path of ['/openapi.json', '/docs', '/redoc', '/threads/1', '/v1/orders/paris'])
        expect(await said(socket, path)).toBe(`200 core GET ${path} `)
      await stop()
      await app.stop()
    })

    it('may be any ASGI app, which gets the requests that match no route of Weir', async () => {
      const app = await appOf(`
async def app(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here " + scope["raw_path"]})
`)
      const { socket, routes } = await app.open()
      expect([routes, await said(socket, '/a%20b')]).toEqual([null, '200 here /a%20b'])
      await app.stop()
    })

    it('that cannot be loaded, or is not an app, is reported with the reason', async () => {
      for (const [source, reason] of [
        ['x = 1\nraise RuntimeError("no database")', /app_\d+\.py:2: RuntimeError: no database/],
        ['app = 7', /is no ASGI app/],
        ['other = 7', /has no variable "app"/],
        [APP.replace('yield {"started": "yes"}', 'raise OSError("no port")\n    yield'), /no port/],
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
}
