import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  accepted,
  type AppFixture,
  type FixtureOptions,
  KEY,
  startApp,
  WORKSPACE,
} from '../../../test/support/servers/app-fixture.ts'
import { NOW } from '../../../test/support/faults/test-clock.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { AppError } from '../../base/errors.ts'
import type { Rejected } from '../../trace/decode/decoded.ts'
import { createIngestMatch } from './ingest-handler.ts'
import { platformRoutes } from './routes.ts'
import { firstInShort, inLong } from '../../../test/support/length.ts'

let fixture: AppFixture
afterEach(() => fixture?.stop())

async function start(options: FixtureOptions = {}): Promise<void> {
  fixture = await startApp(options)
}

/** A connection that has sent a request head and stays open. */
async function openRequest(head: string): Promise<Socket> {
  const socket = connect(fixture.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.write(`${head}\r\nhost: x\r\nx-api-key: ${KEY}\r\n\r\n`)
  return socket
}

async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    const length = /content-length: (\d+)/.exec(text)?.[1]
    const at = text.indexOf('\r\n\r\n')
    if (length !== undefined && at >= 0 && text.length >= at + 4 + Number(length)) break
  }
  return text
}

const REJECTED: Rejected = {
  run_id: 'x',
  code: 'invalid_run_id',
  field: 'id',
  reason: 'The id is not a UUID.',
  error: 'Unprocessable entity: error parsing run for post.x',
  status: 422,
}

describe('createIngestMatch', () => {
  it('matches the ingest routes and no others', () => {
    const matchIngest = createIngestMatch(platformRoutes())
    expect(matchIngest('POST', '/runs/multipart')).toMatchObject({ kind: 'multipart' })
    expect(matchIngest('POST', '/runs/batch')).toMatchObject({ kind: 'batch' })
    expect(matchIngest('POST', '/runs')).toMatchObject({ kind: 'create' })
    expect(matchIngest('PATCH', '/runs/a%20b')).toMatchObject({ kind: 'update', path_run_id: 'a b' })
    for (const path of ['/runs/query', '/runs/validate', '/run', '/runs/multipart/x', '/runs/{id}', '/']) {
      expect(matchIngest('POST', path)).toBeUndefined()
    }
    expect(matchIngest('PATCH', '/runs/a/b')).toBeUndefined()
    expect(matchIngest('POST', '/v1/traces/')).toMatchObject({ kind: 'otlp-traces' })
    expect(matchIngest('PATCH', '/runs/a/')).toMatchObject({ kind: 'update', path_run_id: 'a' })
    expect(matchIngest('GET', '/runs')).toBeUndefined()
  })
})

describe('an ingest request', () => {
  it('reaches the ingester with its head and every byte', async () => {
    await start()
    const body = Buffer.from([0, 255, 13, 10, 1])
    const answer = await fixture.request('/runs/multipart', {
      method: 'POST',
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-encoding': 'gzip' },
    })
    expect(answer.status).toBe(202)
    expect(await answer.json()).toEqual({ message: 'Runs accepted', accepted: 1, rejected: [] })
    expect(fixture.ingested).toEqual([
      {
        body,
        head: {
          kind: 'multipart',
          content_type: 'multipart/form-data; boundary=B',
          content_encoding: 'gzip',
          workspace_id: WORKSPACE,
          user_id: '33333333-3333-4333-8333-333333333333',
          api_key_id: '44444444-4444-4444-8444-444444444444',
          received_at: NOW,
          limits: { max_body_bytes: 1_000_000, max_parts: 25_000, max_part_bytes: 500_000 },
        },
      },
    ])
  })

  it('passes the id of a PATCH, and accepts an empty batch', async () => {
    await start({ ingest: async () => accepted({ accepted: 0 }) })
    expect((await fixture.postJson('/runs/abc', {}, 'PATCH')).status).toBe(202)
    expect(fixture.ingested[0]?.head).toMatchObject({ kind: 'update', path_run_id: 'abc' })
  })

  it('INGEST-9: answers 202 with the rejected items when anything was stored', async () => {
    await start({
      ingest: async () => accepted({ accepted: 2, feedback: 1, rejected: [REJECTED], truncated: true }),
    })
    const answer = await fixture.postJson('/runs/batch', {})
    expect(answer.status).toBe(202)
    expect(await answer.json()).toEqual({
      message: 'Runs accepted in part',
      accepted: 3,
      rejected: [{ run_id: 'x', code: 'invalid_run_id', field: 'id', reason: 'The id is not a UUID.' }],
      truncated: true,
    })
  })

  it('INGEST-9: answers as LangSmith does for the first rejected item when nothing was stored', async () => {
    await start({ ingest: async () => accepted({ accepted: 0, rejected: [REJECTED] }) })
    const answer = await fixture.postJson('/runs', {})
    expect(answer.status).toBe(422)
    expect(await answer.json()).toEqual({
      detail: 'The id is not a UUID.',
      error: 'Unprocessable entity: error parsing run for post.x',
      code: 'invalid_run_id',
      rejected: [{ run_id: 'x', code: 'invalid_run_id', field: 'id', reason: 'The id is not a UUID.' }],
    })
  })

  it.each([
    ['unsupported_media_type', 415, null],
    ['invalid_encoding', 400, null],
    ['log_full', 503, '1'],
    ['shutting_down', 503, '1'],
  ] as const)('answers %s as %i', async (code, status, retryAfter) => {
    await start({ ingest: () => Promise.reject(new AppError(code)) })
    const answer = await fixture.postJson('/runs/multipart', {})
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter])
    expect(await answer.json()).toMatchObject({ code })
    expect(fixture.app.inFlightBytes()).toBe(0)
  })
})

describe('limits', () => {
  it('answers 413 without Retry-After to a too large Content-Length, before the body arrives', async () => {
    await start()
    const socket = await openRequest('POST /runs/batch HTTP/1.1\r\ncontent-length: 1000001')
    const answer = await answerOf(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer.toLowerCase()).not.toContain('retry-after')
    socket.destroy()
  })

  it('lets a client that sends the whole of a too large body read its 413', async () => {
    await start()
    const answer = await fixture.request('/runs/batch', { method: 'POST', body: Buffer.alloc(20_000_000) })
    expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'body_too_large' }])
  })

  it('answers 413 to a chunked body as soon as it is too large', async () => {
    await start()
    const socket = await openRequest('POST /runs/batch HTTP/1.1\r\ntransfer-encoding: chunked')
    const size = 600_000
    for (let sent = 0; sent < 2; sent += 1) socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`)
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 413 /)
    expect(fixture.app.inFlightBytes()).toBe(0)
    socket.destroy()
  })

  it('answers 503 with Retry-After: 1 when the memory for bodies is used up, and recovers', async () => {
    const waiting = Promise.withResolvers<void>()
    await start({
      limits: { max_inflight_bytes: 1000, max_body_bytes: 1000 },
      ingest: async () => {
        await waiting.promise
        return accepted()
      },
    })
    const first = fixture.request('/runs/batch', { method: 'POST', body: 'x'.repeat(600) })
    await eventually(async () => expect(fixture.ingested.length).toBe(1))
    const second = await fixture.request('/runs/batch', { method: 'POST', body: 'x'.repeat(600) })
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await second.json()).toMatchObject({ code: 'overloaded' })
    waiting.resolve()
    expect((await first).status).toBe(202)
    expect((await fixture.request('/runs/batch', { method: 'POST', body: 'x'.repeat(600) })).status).toBe(202)
  })

  it('reserves no memory for a Content-Length before the bytes arrive', async () => {
    await start({ limits: { max_inflight_bytes: 1200, max_body_bytes: 1000 } })
    const slow = await Promise.all(
      Array.from({ length: 3 }, () => openRequest('POST /runs/batch HTTP/1.1\r\ncontent-length: 1000')),
    )
    for (const socket of slow) socket.write('{')
    await eventually(async () => expect(fixture.app.inFlightBytes()).toBe(slow.length))
    const answer = await fixture.request('/runs/batch', { method: 'POST', body: 'x'.repeat(1000) })
    expect(answer.status).toBe(202)
    for (const socket of slow) socket.destroy()
    await eventually(async () => expect(fixture.app.inFlightBytes()).toBe(0))
  })

  it('INGEST-14: cancels an incomplete body to free memory for a key that uses less', async () => {
    await start({ limits: { max_inflight_bytes: 1600, max_body_bytes: 1400 } })
    const made = await fixture.postJson('/orgs/current/personal-access-tokens', {
      description: 'other',
      default_workspace_id: WORKSPACE,
    })
    const { key } = (await made.json()) as { key: string }
    const hog = await openRequest('POST /runs/batch HTTP/1.1\r\ncontent-length: 1400')
    hog.write('x'.repeat(1399))
    await eventually(async () => expect(fixture.app.inFlightBytes()).toBe(1399))
    const body = 'x'.repeat(1000)
    const answer = await fixture.request('/runs/batch', {
      method: 'POST',
      body,
      headers: { 'x-api-key': key },
    })
    expect(answer.status).toBe(202)
    expect(await answerOf(hog)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"overloaded"/)
    hog.destroy()
    expect(fixture.app.inFlightBytes()).toBe(0)
  })

  it.each(
    firstInShort(
      [
        ['a body', 'POST /runs/batch HTTP/1.1\r\ncontent-length: 100000', 'x'],
        ['a chunked body', 'POST /runs/multipart HTTP/1.1\r\ntransfer-encoding: chunked', '1\r\nx\r\n'],
        ['a query', 'POST /runs/query HTTP/1.1\r\ncontent-length: 1000', ' '],
      ] as const,
      1,
    ),
  )('answers 408 to a client that sends %s too slowly, and closes', async (_what, head, drop) => {
    await start({ limits: { body_window_ms: 100 } })
    const socket = await openRequest(head)
    const drip = setInterval(() => socket.write(drop), 10)
    // The client goes on sending, so that its connection may end with an error.
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    let answer = ''
    socket.on('data', (chunk) => (answer += String(chunk)))
    await closed
    clearInterval(drip)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('"code":"body_too_slow"')
    expect(fixture.app.inFlightBytes()).toBe(0)
  })

  inLong(() => {
    it('accepts a slow body at the minimum rate', async () => {
      await start({ limits: { body_window_ms: 500, min_body_bytes_per_second: 2 } })
      const body = '{"post":[]}'
      const socket = await openRequest(`POST /runs/batch HTTP/1.1\r\ncontent-length: ${body.length}`)
      const bytes = body.split('')
      const drip = setInterval(() => socket.write(bytes.shift() ?? ''), 100)
      expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 202 /)
      clearInterval(drip)
      socket.destroy()
    })
  })

  it('answers 408 to a client that sends nothing, and closes', async () => {
    await start({ limits: { body_window_ms: 50 } })
    const socket = await openRequest('POST /runs/batch HTTP/1.1\r\ncontent-length: 10')
    socket.write('{')
    const closed = once(socket, 'close')
    let answer = ''
    socket.on('data', (chunk) => (answer += String(chunk)))
    await closed
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('"code":"body_too_slow"')
    expect(fixture.ingested).toEqual([])
  })
})

describe('a connection that breaks', () => {
  it.each([
    ['is reset', 'content-length: 100', '', (socket: Socket) => socket.resetAndDestroy()],
    ['ends (a client that was killed)', 'content-length: 100', '', (socket: Socket) => socket.end()],
    ['ends within a chunk', 'transfer-encoding: chunked', '64\r\n', (socket: Socket) => socket.end()],
  ])(
    'passes the received part of a multipart body to the ingester when it %s',
    async (_how, framing, before, cut) => {
      await start()
      const socket = await openRequest(`POST /runs/multipart HTTP/1.1\r\n${framing}`)
      socket.write(`${before}--B\r\nfirst part`, () => cut(socket))
      await eventually(async () => expect(fixture.ingested.length).toBe(1))
      expect(fixture.ingested[0]?.head.truncated).toBe(true)
      expect(fixture.ingested[0]?.body.toString()).toBe('--B\r\nfirst part')
      await eventually(async () => expect(fixture.app.inFlightBytes()).toBe(0))
    },
  )

  it('ends the request for any other body', async () => {
    await start()
    const socket = await openRequest('POST /runs/batch HTTP/1.1\r\ncontent-length: 100')
    socket.write('{"post":[', () => socket.resetAndDestroy())
    await eventually(async () => {
      const text = await (await fixture.request('/metrics')).text()
      expect(text).toContain('route="/runs/batch",status="499"')
    })
    expect(fixture.ingested).toEqual([])
    expect(fixture.app.inFlightBytes()).toBe(0)
  })
})
