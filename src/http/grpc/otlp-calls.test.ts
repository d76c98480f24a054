import { once } from 'node:events'
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  accepted,
  type AppFixture,
  type FixtureOptions,
  KEY,
  REJECTED_SPAN,
  startApp,
} from '../../../test/support/servers/app-fixture.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { call, callOn, framed, LOGS, METRICS, TRACES } from '../../../test/support/traces/grpc-call.ts'
import { protoType } from '../../../test/support/traces/otlp-proto.ts'
import { AppError, type ErrorCode } from '../../base/errors.ts'
import type { HttpServer } from '../server/http-server.ts'
import { type GrpcServerOptions, startGrpcServer } from './grpc-server.ts'
import { createOtlpCalls } from './otlp-calls.ts'

const RESPONSE = protoType('ExportTraceServiceResponse')
const STATUS = protoType('RpcStatus')
const RETRY = protoType('RetryInfo')
const WITH_KEY = { 'x-api-key': KEY }
const MESSAGE = Buffer.from('message')

let fixture: AppFixture
let server: HttpServer
const otherProtocols: unknown[] = []

async function start(
  options: FixtureOptions = {},
  connections?: GrpcServerOptions['connections'],
): Promise<void> {
  fixture = await startApp(options)
  server = await startGrpcServer(createOtlpCalls(fixture.deps, fixture.entrance), {
    host: '127.0.0.1',
    port: 0,
    onOtherProtocol: (from) => void otherProtocols.push(from),
    ...(connections && { connections }),
  })
}

beforeEach(() => void otherProtocols.splice(0))
afterEach(async () => {
  await server.stop(1000)
  await fixture.stop()
})

const failing = (error: AppError): FixtureOptions => ({
  ingest: async () => {
    throw error
  },
})

describe('OTLP-11: an export over gRPC', () => {
  it.each([
    [TRACES, 'otlp-traces'],
    [LOGS, 'otlp-logs'],
  ])('to %s is passed to the ingester unchanged, and answered when it is stored', async (path, kind) => {
    await start()
    const headers = { ...WITH_KEY, 'langsmith-project': 'mine' }
    const { trailers, message, headers: sent } = await call(server.url, path, framed(MESSAGE), headers)
    expect([trailers['grpc-status'], message]).toEqual(['0', Buffer.alloc(0)])
    expect(sent).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' })
    expect(fixture.ingested).toMatchObject([
      {
        head: { kind, project: 'mine', content_type: 'application/x-protobuf', content_encoding: '' },
        body: MESSAGE,
      },
    ])
  })

  it.each(['gzip', 'deflate', 'zstd', 'snappy'])('may be compressed with %s', async (encoding) => {
    await start()
    const headers = { ...WITH_KEY, 'grpc-encoding': encoding }
    await call(server.url, TRACES, framed(MESSAGE, true), headers)
    await call(server.url, TRACES, framed(MESSAGE), headers)
    const encodings = fixture.ingested.map(({ head }) => head.content_encoding)
    expect(encodings).toEqual([encoding, ''])
  })

  it('may have a Bearer key, and many pieces', async () => {
    await start()
    const session = connect(server.url)
    const stream = session.request({
      ':method': 'POST',
      ':path': TRACES,
      'content-type': 'application/grpc+proto',
      authorization: `Bearer ${KEY}`,
    })
    const trailers = once(stream, 'trailers')
    for (const byte of framed(MESSAGE)) stream.write(Buffer.of(byte))
    stream.end()
    stream.resume()
    expect((await trailers)[0]).toMatchObject({ 'grpc-status': '0' })
    expect(fixture.ingested[0]?.body).toEqual(MESSAGE)
    session.destroy()
  })

  it('gets the number of refused records and the reasons', async () => {
    await start({ ingest: async () => accepted({ rejected: [REJECTED_SPAN], warnings: ['soon full'] }) })
    const { trailers, message, headers } = await call(server.url, TRACES, framed(MESSAGE), WITH_KEY)
    expect([trailers['grpc-status'], headers['weir-usage-warning']]).toEqual(['0', 'soon full'])
    expect(RESPONSE.decode(message!)).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: `1 not stored: 1 × ${REJECTED_SPAN.reason}` },
    })
  })

  it.each<[ErrorCode, number, string | null]>([
    ['invalid_otlp', 3, null],
    ['invalid_encoding', 3, null],
    ['unsupported_encoding', 12, null],
    ['body_too_large', 8, null],
    ['usage_limit_reached', 8, '1'],
    ['log_full', 14, '1'],
    ['disk_full', 14, '1'],
    ['shutting_down', 14, '1'],
    ['internal', 13, null],
  ])('that fails with %s is answered with status %i', async (code, status, retry) => {
    await start(failing(new AppError(code)))
    const { trailers } = await call(server.url, TRACES, framed(MESSAGE), WITH_KEY)
    const { message } = new AppError(code)
    expect(trailers['grpc-status']).toBe(String(status))
    expect(trailers['grpc-message']).toBe(message)
    const details = STATUS.decode(Buffer.from(String(trailers['grpc-status-details-bin']), 'base64'))
    expect(details).toMatchObject({ code: status, message })
    const [any] = (details['details'] ?? []) as { typeUrl: string; value: string }[]
    const info = any && RETRY.decode(Buffer.from(any.value, 'base64'))
    expect(info).toEqual(retry === null ? undefined : { retryDelay: { seconds: retry } })
    if (any !== undefined) expect(any.typeUrl).toBe('type.googleapis.com/google.rpc.RetryInfo')
  })

  it('gets an error message in ASCII', async () => {
    await start(failing(new AppError('invalid_otlp', { message: '100 % “wrong”\n' })))
    const { trailers } = await call(server.url, TRACES, framed(MESSAGE), WITH_KEY)
    expect(decodeURIComponent(String(trailers['grpc-message']))).toBe('100 % “wrong”\n')
    expect(trailers['grpc-message']).toMatch(/^100 %25 [!-~]+$/)
  })

  it.each([
    ['without a key', {}, 16],
    ['with a wrong one', { 'x-api-key': 'wrong_key_0123456789' }, 16],
    ['for a workspace of others', { ...WITH_KEY, 'x-tenant-id': '99999999-1111-4111-8111-111111111111' }, 7],
  ])('%s is refused before its message is read', async (_, headers, status) => {
    await start()
    const { trailers } = await call(server.url, TRACES, framed(Buffer.alloc(500_000)), headers)
    expect(trailers['grpc-status']).toBe(String(status))
    expect(fixture.ingested).toEqual([])
    expect(fixture.lines.filter((line) => line.includes('"refused '))).toHaveLength(1)
  })

  it('is refused when it is larger than a body may be, and the connection stays open', async () => {
    await start()
    const session = connect(server.url)
    const large = await callOn(session, TRACES, framed(Buffer.alloc(1_000_001)), WITH_KEY)
    expect(large.trailers['grpc-status']).toBe('8')
    expect(large.trailers['grpc-status-details-bin']).not.toContain('RetryInfo')
    const next = await callOn(session, TRACES, framed(Buffer.alloc(1_000_000)), WITH_KEY)
    expect(next.trailers['grpc-status']).toBe('0')
    expect(fixture.app.inFlightBytes()).toBe(0)
    session.destroy()
  })

  it('shares the memory of bodies with HTTP', async () => {
    const gate = Promise.withResolvers<void>()
    await start({ ingest: () => gate.promise.then(() => accepted()) })
    const calls = [1, 2].map(() => call(server.url, TRACES, framed(Buffer.alloc(800_000)), WITH_KEY))
    await eventually(async () => expect(fixture.app.inFlightBytes()).toBe(1_600_010))
    const third = await call(server.url, TRACES, framed(Buffer.alloc(800_000)), WITH_KEY)
    expect(third.trailers['grpc-status']).toBe('14')
    const http = await fixture.request('/runs', { method: 'POST', body: Buffer.alloc(800_000) })
    expect(http.status).toBe(503)
    gate.resolve()
    for (const { trailers } of await Promise.all(calls)) expect(trailers['grpc-status']).toBe('0')
    expect(fixture.app.inFlightBytes()).toBe(0)
  })

  it.each([
    ['no message', Buffer.alloc(0)],
    ['half a prefix', Buffer.alloc(3)],
    ['less than it announces', framed(MESSAGE).subarray(0, 8)],
    ['two messages', Buffer.concat([framed(MESSAGE), framed(MESSAGE)])],
    ['an unknown flag', Buffer.concat([Buffer.of(7), framed(MESSAGE).subarray(1)])],
    ['compressed, and not said how', framed(MESSAGE, true)],
  ])('of %s is refused', async (_, body) => {
    await start()
    const { trailers } = await call(server.url, TRACES, body, WITH_KEY)
    expect(trailers['grpc-status']).toBe('3')
    expect(fixture.ingested).toEqual([])
  })

  it('that is aborted halfway stores nothing and releases its memory', async () => {
    await start()
    const session = connect(server.url)
    const stream = session.request({
      ':method': 'POST',
      ':path': TRACES,
      'content-type': 'application/grpc',
      ...WITH_KEY,
    })
    stream.on('error', () => undefined)
    stream.write(framed(Buffer.alloc(100_000)).subarray(0, 50_000))
    await eventually(async () => expect(fixture.app.inFlightBytes()).toBeGreaterThan(0))
    stream.close(8)
    await eventually(async () => expect(fixture.app.inFlightBytes()).toBe(0))
    expect(fixture.ingested).toEqual([])
    session.destroy()
  })

  it('that arrives too slowly is ended', async () => {
    await start({ limits: { body_window_ms: 50 } })
    const session = connect(server.url)
    const stream = session.request({
      ':method': 'POST',
      ':path': TRACES,
      'content-type': 'application/grpc',
      ...WITH_KEY,
    })
    stream.write(Buffer.of(0))
    const [headers] = (await once(stream, 'response')) as [Record<string, string>]
    expect(headers['grpc-status']).toBe('4')
    session.destroy()
  })

  it('of metrics is accepted, counted and dropped', async () => {
    await start()
    const { trailers } = await call(server.url, METRICS, framed(MESSAGE), WITH_KEY)
    expect(trailers['grpc-status']).toBe('0')
    expect(fixture.ingested).toEqual([])
    expect(fixture.deps.metrics.render()).toContain('weir_otlp_metrics_dropped_total 1')
  })

  it('is measured by method and status', async () => {
    await start()
    await call(server.url, TRACES, framed(MESSAGE), WITH_KEY)
    await call(server.url, '/some.Service/Method', framed(MESSAGE), WITH_KEY)
    await eventually(async () => {
      const metrics = fixture.deps.metrics.render()
      expect(metrics).toContain(`_count{method="${TRACES.slice(1)}",status="OK"} 1`)
      expect(metrics).toContain('_count{method="(none)",status="UNIMPLEMENTED"} 1')
    })
  })
})

describe('the gRPC listener', () => {
  it('has no other methods, and no other protocol than gRPC', async () => {
    await start()
    const other = await call(server.url, '/grpc.health.v1.Health/Check', framed(MESSAGE), WITH_KEY)
    expect(other.trailers['grpc-status']).toBe('12')
    const plain = await call(server.url, TRACES, MESSAGE, {
      ...WITH_KEY,
      'content-type': 'application/x-protobuf',
    })
    expect(plain.headers[':status']).toBe(415)
  })

  it('closes a connection of another protocol, and logs this', async () => {
    await start()
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
    await once(socket.resume(), 'close')
    await eventually(async () => expect(otherProtocols).toEqual(['127.0.0.1']))
  })

  it('finishes active calls when it stops, and refuses new ones', async () => {
    const gate = Promise.withResolvers<void>()
    await start({ ingest: () => gate.promise.then(() => accepted()) })
    const session = connect(server.url)
    const underWay = callOn(session, TRACES, framed(MESSAGE), WITH_KEY)
    await eventually(async () => expect(fixture.ingested).toHaveLength(1))
    const stopped = server.stop(10_000)
    await once(session, 'goaway')
    await expect(call(server.url, TRACES, framed(MESSAGE), WITH_KEY)).rejects.toThrow('ECONNREFUSED')
    gate.resolve()
    expect((await underWay).trailers['grpc-status']).toBe('0')
    await stopped
  })

  it('cuts calls that exceed the time limit of the stop', async () => {
    await start({ ingest: () => new Promise(() => undefined) })
    const session = connect(server.url)
    session.on('error', () => undefined)
    const stream = session.request({
      ':method': 'POST',
      ':path': TRACES,
      'content-type': 'application/grpc',
      ...WITH_KEY,
    })
    stream.on('error', () => undefined)
    stream.end(framed(MESSAGE))
    await eventually(async () => expect(fixture.ingested).toHaveLength(1))
    const closed = once(session, 'close')
    await server.stop(10)
    await closed
  })

  it('limits the connections from one address', async () => {
    await start({}, { max_connections: 10, max_connections_per_address: 2, max_open_requests: 10 })
    const held = [connect(server.url), connect(server.url)]
    for (const session of held) await callOn(session, METRICS, framed(MESSAGE), WITH_KEY)
    await expect(call(server.url, METRICS, framed(MESSAGE), WITH_KEY)).rejects.toThrow()
    held[0]!.destroy()
    await eventually(async () => {
      const { trailers } = await call(server.url, METRICS, framed(MESSAGE), WITH_KEY)
      expect(trailers['grpc-status']).toBe('0')
    })
    held[1]!.destroy()
  })
})
