import { afterEach, describe, expect, it } from 'vitest'
import {
  accepted,
  type AppFixture,
  type FixtureOptions,
  KEY,
  startApp,
} from '../../test/support/app-fixture.ts'
import { protoType } from '../../test/support/otlp-proto.ts'
import { AppError, type ErrorCode } from '../base/errors.ts'
import type { Rejected } from '../trace/decoded.ts'

const PROTOBUF = 'application/x-protobuf'
const JSON_TYPE = 'application/json'
const SPAN_PATHS = ['/v1/traces', '/otel/v1/traces', '/api/v1/otel/v1/traces', '/api/otel/v1/traces']
const STATUS = protoType('RpcStatus')
const RESPONSE = protoType('ExportTraceServiceResponse')

const REJECTED: Rejected = {
  run_id: null,
  code: 'invalid_run_id',
  field: 'span_id',
  reason: 'span_id is not 8 bytes, or all zero.',
  error: 'Unprocessable entity',
  status: 422,
}

let fixture: AppFixture
afterEach(() => fixture?.stop())

async function post(
  path: string,
  contentType: string,
  options: FixtureOptions = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  fixture = await startApp(options)
  return await fixture.request(path, {
    method: 'POST',
    body: Buffer.from('x'),
    headers: { 'content-type': contentType, ...headers },
  })
}

const failing = (code: ErrorCode): FixtureOptions => ({
  ingest: async () => {
    throw new AppError(code)
  },
})

describe('an export', () => {
  it.each([
    ...SPAN_PATHS.map((path) => [path, 'otlp-traces']),
    ...SPAN_PATHS.map((path) => [path.replace('traces', 'logs'), 'otlp-logs']),
  ])('to %s is taken as %s', async (path, kind) => {
    expect((await post(path, PROTOBUF)).status).toBe(200)
    expect(fixture.ingested[0]?.head).toMatchObject({ kind, content_type: PROTOBUF, content_encoding: '' })
    expect(fixture.ingested[0]?.head).not.toHaveProperty('project')
  })

  it('may come with a Bearer key, and names its project in a header', async () => {
    fixture = await startApp()
    const answer = await fetch(`http://127.0.0.1:${fixture.port}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'Langsmith-Project': 'mine', 'content-type': PROTOBUF },
    })
    expect(answer.status).toBe(200)
    expect(fixture.ingested[0]?.head.project).toBe('mine')
  })

  it('is answered in its own encoding', async () => {
    const json = await post('/v1/traces', 'application/json; charset=utf-8')
    expect([json.headers.get('content-type'), await json.text()]).toEqual([JSON_TYPE, '{}'])
    await fixture.stop()
    const proto = await post('/v1/traces', PROTOBUF)
    expect([proto.headers.get('content-type'), await proto.text()]).toEqual([PROTOBUF, ''])
  })

  it('of which a part was refused says how much and why', async () => {
    const rejected = [...Array.from({ length: 300 }, () => REJECTED), { ...REJECTED, reason: 'No start.' }]
    const options = { ingest: async () => accepted({ rejected }) }
    const errorMessage = `301 not stored: 300 × ${REJECTED.reason} 1 × No start.`
    const proto = await post('/v1/traces', PROTOBUF, options)
    expect(proto.status).toBe(200)
    expect(RESPONSE.decode(Buffer.from(await proto.arrayBuffer()))).toEqual({
      partialSuccess: { rejectedSpans: '301', errorMessage },
    })
    await fixture.stop()
    const json = await post('/v1/traces', JSON_TYPE, options)
    expect(await json.json()).toEqual({ partialSuccess: { rejectedSpans: '301', errorMessage } })
    await fixture.stop()
    const logs = await post('/v1/logs', JSON_TYPE, options)
    expect(await logs.json()).toEqual({ partialSuccess: { rejectedLogRecords: '301', errorMessage } })
  })

  it.each([
    ['invalid_otlp', 400, 3, null],
    ['invalid_encoding', 400, 3, null],
    ['unsupported_media_type', 415, 3, null],
    ['body_too_large', 413, 8, null],
    ['rate_limited', 429, 8, '1'],
    ['log_full', 503, 14, '1'],
    ['internal', 500, 13, null],
  ] as const)('that fails with %s is answered with a status', async (code, status, rpc, retryAfter) => {
    const proto = await post('/v1/traces', PROTOBUF, failing(code))
    expect([proto.status, proto.headers.get('retry-after')]).toEqual([status, retryAfter])
    const message = new AppError(code).message
    expect(STATUS.decode(Buffer.from(await proto.arrayBuffer()))).toEqual({ code: rpc, message })
    await fixture.stop()
    const json = await post('/v1/traces', JSON_TYPE, failing(code))
    expect([json.status, await json.json()]).toEqual([status, { code: rpc, message }])
  })

  it('in no encoding that OTLP has is answered in JSON', async () => {
    const answer = await post('/v1/traces', 'text/plain', failing('unsupported_media_type'))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([415, JSON_TYPE])
  })

  it('without a key is refused in its own words', async () => {
    const answer = await post('/v1/traces', JSON_TYPE, {}, { 'x-api-key': 'wrong_key_0123456789' })
    expect([answer.status, await answer.json()]).toEqual([401, { code: 16, message: 'Invalid token' }])
  })

  it('is a POST', async () => {
    fixture = await startApp()
    const answer = await fixture.request('/v1/traces')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })
})
