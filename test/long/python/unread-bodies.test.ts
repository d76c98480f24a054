import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { useFolder } from '../../support/folder.ts'

// Python starts slowly.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const WITHOUT = withoutPython()
const MB = 1 << 20
/** Bytes of an upload of which no process may hold much. */
const LARGE = 64 * MB
/** What the sockets of both sides may hold besides. */
const IN_SOCKETS = 24 * MB

const PROJECT = {
  'langgraph.json': JSON.stringify({
    dependencies: ['.'],
    graphs: { agent: './agent.py:graph' },
    http: { app: './app.py:app' },
  }),
  'agent.py': `
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict):
    n: int

graph = StateGraph(State).add_node("work", lambda state: {"n": 1}).add_edge(START, "work").add_edge("work", END).compile()
`,
  'app.py': `
import asyncio
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

async def unread(request):
    return PlainTextResponse("unread")

async def begun(request):
    async for _chunk in request.stream():
        return PlainTextResponse("begun")

async def whole(request):
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
    return PlainTextResponse(str(size))

async def never(request):
    await asyncio.Event().wait()

app = Starlette(routes=[Route(f"/{end.__name__}", end, methods=["POST"]) for end in (unread, begun, whole, never)])
`,
}

describe.skipIf(WITHOUT !== '')(`a body that a Python app does not read${WITHOUT}`, () => {
  let dir: string
  let weir: WeirProcess
  /** A connection that is used again, which an unread body would spoil. */
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  useFolder(async (made) => {
    dir = made
    for (const [name, content] of Object.entries(PROJECT)) await writeFile(join(dir, name), content)
    weir = await startWeir(join(dir, 'data'), {
      GRAPHS: join(dir, 'langgraph.json'),
      DEPLOYMENT_NAME: 'python',
      VIRTUAL_ENV: join(PYTHON, '..', '..'),
    })
  })
  afterAll(async () => {
    agent.destroy()
    expect(await weir.stop()).toBe(0)
  })

  const upload = (path: string, body: Buffer, headers: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      const all = { 'x-api-key': KEY, ...headers }
      request(
        `${weir.url}/deployments/python${path}`,
        { method: 'POST', agent, headers: all },
        (answer) => void text(answer).then((said) => resolve(`${answer.statusCode} ${said}`), reject),
      )
        .once('error', reject)
        .end(body)
    })

  it('loses no answer, and spoils no connection', async () => {
    const body = Buffer.alloc(10 * MB, 1)
    for (let turn = 0; turn < 5; turn++)
      for (const headers of [
        { 'content-length': String(body.length) },
        { 'transfer-encoding': 'chunked' },
      ] as const) {
        expect(await upload('/unread', body, headers)).toBe('200 unread')
        expect(await upload('/begun', body, headers)).toBe('200 begun')
        expect(await upload('/whole', body, headers)).toBe(`200 ${body.length}`)
      }
  })

  it('waits in the socket of its client, whom others do not notice', async () => {
    const { hostname, port } = new URL(weir.url)
    const socket = connect(Number(port), hostname)
    const head = ['POST /deployments/python/never HTTP/1.1', 'host: 127.0.0.1', `x-api-key: ${KEY}`]
    socket.write([...head, `content-length: ${LARGE}`, '', ''].join('\r\n'))
    socket.on('error', () => undefined).write(Buffer.alloc(LARGE, 1))
    // In this time the unread body would have been sent, too.
    for (let turn = 0; turn < 3; turn++)
      expect(await upload('/whole', Buffer.alloc(LARGE, 1), {})).toBe(`200 ${LARGE}`)
    expect(socket.bytesWritten - socket.writableLength).toBeLessThan(IN_SOCKETS)
    expect((await weir.fetch('/ok')).status).toBe(200)
    socket.destroy()
    expect(await upload('/unread', Buffer.alloc(10 * MB, 1), {})).toBe('200 unread')
  })
})
