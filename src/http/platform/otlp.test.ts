import { afterEach, describe, expect, it } from 'vitest'
import {
  accepted,
  type AppFixture,
  type FixtureOptions,
  KEY,
  REJECTED_SPAN,
  startApp,
} from '../../../test/support/servers/app-fixture.ts'
import { protoType } from '../../../test/support/traces/otlp-proto.ts'
import { AppError, type ErrorCode } from '../../base/errors.ts'
import { firstInShort, inLong, someInShort } from '../../../test/support/length.ts'

const PROTOBUF = 'application/x-protobuf'
const JSON_TYPE = 'application/json'
const SPAN_PATHS = ['/v1/traces', '/otel/v1/traces', '/api/v1/otel/v1/traces', '/api/otel/v1/traces']
const STATUS = protoType('RpcStatus')
const RESPONSE = protoType('ExportTraceServiceResponse')

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
  it.each(
    someInShort(
      [
        ...SPAN_PATHS.map((path) => [path, 'otlp-traces'] as const),
        ...SPAN_PATHS.map((path) => [path.replace('traces', 'logs'), 'otlp-logs'] as const),
      ],
      SPAN_PATHS.length,
    ),
  )('to %s is passed on as %s', async (path, kind) => {
    expect((await post(path, PROTOBUF)).status).toBe(200)
    expect(fixture.ingested[0]?.head).toMatchObject({ kind, content_type: PROTOBUF, content_encoding: '' })
    expect(fixture.ingested[0]?.head).not.toHaveProperty('project')
  })

  it.each([
    ['in UTF-8', Buffer.from('Prüfung 検証').toString('latin1'), 'Prüfung 検証'],
    ['in Latin-1', 'Prüfung', 'Prüfung'],
  ])('OTLP-1: may name its project %s', async (_, sent, project) => {
    expect((await post('/v1/traces', PROTOBUF, {}, { 'langsmith-project': sent })).status).toBe(200)
    expect(fixture.ingested[0]?.head).toMatchObject({ project })
  })

  it('OTLP-1: may have a Bearer key, and names its project in a header', async () => {
    fixture = await startApp()
    const answer = await fetch(`http://127.0.0.1:${fixture.port}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'Langsmith-Project': 'mine', 'content-type': PROTOBUF },
    })
    expect(answer.status).toBe(200)
    expect(fixture.ingested[0]?.head.project).toBe('mine')
  })

  it.each(firstInShort(['/v1/metrics', '/otel/v1/metrics', '/api/v1/otel/v1/metrics']))(
    'of metrics to %s is accepted, counted and dropped',
    async (path) => {
      const proto = await post(path, PROTOBUF)
      expect([proto.status, await proto.text()]).toEqual([200, ''])
      expect(fixture.ingested).toEqual([])
      expect(fixture.deps.metrics.render()).toContain('weir_otlp_metrics_dropped_total 1')
      const large = { method: 'POST', body: Buffer.alloc(3_000_000), headers: { 'content-type': JSON_TYPE } }
      expect(await (await fixture.request(path, large)).text()).toBe('{}')
      expect((await fixture.request(path, { ...large, headers: { 'x-api-key': 'wrong' } })).status).toBe(401)
      expect((await fixture.request(path, { ...large, headers: {} })).status).toBe(415)
    },
  )

  it("of Langfuse's clients has the key as a password, on their route only", async () => {
    fixture = await startApp()
    const send = async (path: string, credentials: string): Promise<number> => {
      const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
      const headers = { authorization, 'content-type': PROTOBUF }
      return (await fetch(fixture.url + path, { method: 'POST', headers, body: 'x' })).status
    }
    expect(await send('/api/public/otel/v1/traces', `pk-lf-any:${KEY}`)).toBe(200)
    expect(await send('/api/public/otel/v1/traces', `:${KEY}`)).toBe(200)
    expect(fixture.ingested.map(({ head }) => head.kind)).toEqual(['otlp-traces', 'otlp-traces'])
    expect(await send('/api/public/otel/v1/traces', `${KEY}:pk-lf-any`)).toBe(401)
    expect(await send('/api/public/otel/v1/traces', KEY)).toBe(401)
    expect(await send('/v1/traces', `pk-lf-any:${KEY}`)).toBe(401)
  })

  it('OTLP-2: is answered in its own encoding', async () => {
    const json = await post('/v1/traces', 'application/json; charset=utf-8')
    expect([json.headers.get('content-type'), await json.text()]).toEqual([JSON_TYPE, '{}'])
    await fixture.stop()
    const proto = await post('/v1/traces', PROTOBUF)
    expect([proto.headers.get('content-type'), await proto.text()]).toEqual([PROTOBUF, ''])
  })

  it('OTLP-2: contains the number of refused records and the reasons', async () => {
    const rejected = [
      ...Array.from({ length: 300 }, () => REJECTED_SPAN),
      { ...REJECTED_SPAN, reason: 'No start.' },
    ]
    const options = { ingest: async () => accepted({ rejected }) }
    const errorMessage = `301 not stored: 300 × ${REJECTED_SPAN.reason} 1 × No start.`
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

  inLong(() => {
    it('in an encoding that OTLP does not have is answered in JSON', async () => {
      const answer = await post('/v1/traces', 'text/plain', failing('unsupported_media_type'))
      expect([answer.status, answer.headers.get('content-type')]).toEqual([415, JSON_TYPE])
    })
  })

  it('without a key is refused in the format of OTLP', async () => {
    const answer = await post('/v1/traces', JSON_TYPE, {}, { 'x-api-key': 'wrong_key_0123456789' })
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { code: 16, message: expect.stringMatching(/^Invalid token: /) },
    ])
  })

  inLong(() => {
    it('must be a POST', async () => {
      fixture = await startApp()
      const answer = await fixture.request('/v1/traces')
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    })
  })
})
