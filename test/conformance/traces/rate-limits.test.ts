import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { ROOT_CONTEXT } from '@opentelemetry/api'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { beforeEach, describe, expect, it } from 'vitest'
import { dashed, newUuid } from '../../../src/base/ids.ts'
import { eventually, PATIENCE_MS } from '../../support/eventually.ts'
import { PYTHON, pinned, withoutPython } from '../../support/python.ts'
import { drained } from '../../support/servers/server.ts'
import { BOUNDARY, multipartBody } from '../../support/traces/wire-body.ts'
import { makeClient, useClientSetup } from '../langsmith/js/client-setup.ts'

const setup = useClientSetup()

interface Limits {
  ingest: { runs_per_minute: number | null; bytes_per_minute: number | null }
  keys: { api_key_id: string }[]
  refused: { requests: number; last_at: string | null }
}

let workspace_id: string

/** A request in the test's workspace, through the proxy, so that every answer is compared with the OpenAPI document. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<Response> {
  const bytes = body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
  const sent = body === undefined ? {} : { body: bytes }
  const all = { 'x-tenant-id': workspace_id, ...headers }
  return await setup().weir.request(`${setup().proxy.url}${path}`, { method, headers: all, ...sent })
}

beforeEach(async () => {
  const made = await setup().weir.json<{ id: string }>('/api/v1/workspaces', { display_name: 'limited' })
  workspace_id = made.id
})

async function limitTo(limits: object): Promise<Limits> {
  const answer = await ask('PUT', `/api/v1/workspaces/${workspace_id}/limits`, limits)
  expect([answer.status, await answer.clone().text()]).toEqual([200, expect.any(String)])
  return (await answer.json()) as Limits
}

/** Sets the limit and uses it up. */
async function useUp(runs_per_minute: number): Promise<void> {
  await limitTo({ ingest: { runs_per_minute } })
  const post = Array.from({ length: runs_per_minute }, root)
  expect((await ask('POST', '/runs/batch', { post })).status).toBe(202)
}

function root() {
  const id = newUuid()
  return {
    id,
    trace_id: id,
    name: 'root',
    run_type: 'chain',
    start_time: new Date().toISOString(),
    inputs: {},
  }
}

function span() {
  const nanos = String(Date.now() * 1e6)
  const [traceId, spanId] = [newUuid().replaceAll('-', ''), newUuid().replaceAll('-', '').slice(16)]
  return { traceId, spanId, name: 's', kind: 1, startTimeUnixNano: nanos, endTimeUnixNano: nanos }
}

const storedRuns = async (): Promise<number> => {
  const { accepted } = await setup().weir.json<{ accepted: number }>('/api/v1/ingest/health')
  return accepted
}

describe('INGEST-16 limits a minute', () => {
  const otlp = () => ({ resourceSpans: [{ scopeSpans: [{ spans: [span()] }] }] })
  const json = { 'content-type': 'application/json' }
  const routes: [string, () => Promise<Response>][] = [
    ['POST /runs', () => ask('POST', '/runs', root())],
    ['PATCH /runs/{id}', () => ask('PATCH', `/runs/${newUuid()}`, { outputs: { a: 1 } })],
    ['POST /runs/batch', () => ask('POST', '/api/v1/runs/batch', { post: [root()] })],
    [
      'POST /runs/multipart',
      () => {
        const run = root()
        const body = multipartBody([{ name: `post.${run.id}`, data: JSON.stringify(run) }])
        return ask('POST', '/runs/multipart', body, {
          'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        })
      },
    ],
    ['POST /v1/traces', () => ask('POST', '/v1/traces', otlp(), json)],
    [
      'POST /otel/v1/traces, gzip',
      () =>
        ask('POST', '/otel/v1/traces', gzipSync(JSON.stringify(otlp())), {
          ...json,
          'content-encoding': 'gzip',
        }),
    ],
  ]

  it.each(routes)('%s is refused as a whole, with the time to wait', async (_route, send) => {
    await useUp(6)
    const before = await storedRuns()
    const refused = await send()
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    expect([wait > 0, wait <= 60, Number.isInteger(wait)]).toEqual([true, true, true])
    expect(refused.headers.get('x-ratelimit-limit')).toBe('6')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    const reset = Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1000
    expect([reset > 40, reset < 62]).toEqual([true, true])
    const body = (await refused.json()) as { code: unknown }
    if (refused.url.includes('/v1/traces'))
      expect(body).toMatchObject({ code: 8, message: expect.any(String) })
    else
      expect(body).toMatchObject({
        code: 'rate_limited',
        detail: expect.any(String),
        error: expect.any(String),
      })
    expect(await storedRuns()).toBe(before)
  })

  it('OTLP over gRPC is refused with RetryInfo', async () => {
    await useUp(6)
    const headers = { 'x-api-key': setup().weir.key, 'x-tenant-id': workspace_id }
    const metadata = Metadata.fromHttp2Headers(headers)
    const exporter = new GrpcExporter({ url: setup().weir.otlpGrpcUrl, metadata })
    const processor = new SimpleSpanProcessor({ exporter })
    new TracerProvider({ spanProcessors: [processor] }).getTracer('t').startSpan('s', {}, ROOT_CONTEXT).end()
    const refused = (await processor.forceFlush().catch((error: unknown) => error)) as ServiceError
    expect(refused.code).toBe(8)
    const [status] = refused.metadata.get('grpc-status-details-bin')
    expect(String(status)).toContain('google.rpc.RetryInfo')
  })

  it('counts bytes after decompression, and takes a large request when nothing else was sent', async () => {
    await limitTo({ ingest: { bytes_per_minute: '100kB' } })
    const large = { ...root(), inputs: { text: 'x'.repeat(300_000) } }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const send = (run: object) =>
      ask('POST', '/runs/batch', gzipSync(JSON.stringify({ post: [run] })), headers)
    expect((await send(large)).status).toBe(202)
    const refused = await send(root())
    expect([refused.status, Number(refused.headers.get('retry-after')) > 100]).toEqual([429, true])
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('100000 bytes a minute') })
  })

  it('limits one key of the workspace, and shows what was refused', async () => {
    const made = await ask('POST', '/api/v1/orgs/current/service-keys', { description: 'k', role: 'user' })
    const { id, key } = (await made.json()) as { id: string; key: string }
    await limitTo({ keys: [{ api_key_id: id, ingest: { runs_per_minute: 1 } }] })
    const mine = { 'content-type': 'application/json', 'x-api-key': key, 'x-tenant-id': workspace_id }
    expect((await ask('POST', '/runs', root(), mine)).status).toBe(202)
    expect((await ask('POST', '/runs', root(), mine)).status).toBe(429)
    expect((await ask('POST', '/runs', root())).status).toBe(202)
    const { refused } = await limitTo({})
    expect([refused.requests > 0, refused.last_at]).toEqual([true, expect.any(String)])
    const health = await setup().weir.json<{ rate_limited: Limits['refused'] }>('/api/v1/ingest/health')
    expect(health.rate_limited.requests).toBeGreaterThanOrEqual(refused.requests)
    const metrics = await (await setup().weir.request('/api/v1/metrics')).text()
    expect(metrics).toMatch(/weir_ingest_rate_limited_total\{limit="runs",of="key"\} [1-9]/)
  })

  it('keeps what a change does not name, and refuses what is no limit', async () => {
    await limitTo({ ingest: { runs_per_minute: 600, bytes_per_minute: 1000 }, traces_per_month: 10_000_000 })
    const { ingest } = await limitTo({ ingest: { bytes_per_minute: '1GiB' } })
    expect(ingest).toEqual({ runs_per_minute: 600, bytes_per_minute: 2 ** 30 })
    const { api_key } = await setup().weir.json<{ api_key: { id: string } }>('/api/v1/auth/session')
    const keys = [{ api_key_id: api_key.id, ingest: { bytes_per_minute: '0B' } }]
    const wrong = [
      { ingest: { runs_per_minute: 5 }, keys },
      { ingest: { runs_per_minute: 0 } },
      { ingest: { bytes_per_minute: '0B' } },
      { runs: 1 },
      [],
    ]
    for (const body of wrong) {
      const answer = await ask('PUT', `/api/v1/workspaces/${workspace_id}/limits`, body)
      expect([body, answer.status]).toEqual([body, 422])
    }
    const after = (await (await ask('GET', `/api/v1/workspaces/${workspace_id}/limits`)).json()) as Limits
    expect(after.ingest).toEqual(ingest)
    expect((await ask('PUT', `/api/v1/workspaces/${newUuid()}/limits`, {})).status).toBe(404)
    const logs = (await (
      await ask('GET', '/api/v1/orgs/current/audit-logs?action=workspace.limits')
    ).json()) as {
      audit_logs: { subject_id: string; details: { to: object } }[]
    }
    expect(logs.audit_logs[0]).toMatchObject({ subject_id: workspace_id, details: { to: { ingest } } })
  })
})

describe('INGEST-17 clients wait and lose nothing', () => {
  it('the JavaScript SDK', async () => {
    await useUp(600)
    const client = makeClient(setup(), {
      workspaceId: workspace_id,
      autoBatchTracing: true,
      blockOnRootRunFinalization: false,
    })
    const runs = Array.from({ length: 20 }, root)
    for (const run of runs) await client.createRun({ ...run, project_name: 'limited' })
    await client.awaitPendingTraceBatches()
    const statuses = setup()
      .proxy.requests.filter(({ url }) => url.includes('/runs'))
      .map(({ status }) => status)
    expect(statuses).toContain(429)
    await drained(setup().weir)
    for (const { id } of runs) expect((await ask('GET', `/api/v1/runs/${id}`)).status).toBe(200)
  })

  it("OpenTelemetry's exporter", async () => {
    await useUp(600)
    const { weir } = setup()
    const headers = { 'x-api-key': weir.key, 'x-tenant-id': workspace_id }
    const exporter = new ProtoExporter({ url: `${weir.url}/v1/traces`, headers, timeoutMillis: PATIENCE_MS })
    const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: PATIENCE_MS })
    const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('t')
    const { rate_limited: before } = await weir.json<{ rate_limited: Limits['refused'] }>(
      '/api/v1/ingest/health',
    )
    const sent = Array.from({ length: 20 }, () => tracer.startSpan('limited', {}, ROOT_CONTEXT))
    for (const one of sent) one.end()
    await processor.forceFlush()
    const { rate_limited: after } = await weir.json<{ rate_limited: Limits['refused'] }>(
      '/api/v1/ingest/health',
    )
    expect(after.requests).toBeGreaterThan(before.requests)
    await drained(weir)
    for (const one of sent)
      await eventually(async () =>
        expect((await ask('GET', `/api/v1/traces/${dashed(one.spanContext().traceId)}`)).status).toBe(200),
      )
    await processor.shutdown()
  })

  const missing = withoutPython()
  it.skipIf(missing !== '')(`the Python SDK, ${pinned('langsmith')}${missing}`, async () => {
    await useUp(600)
    const id = newUuid()
    const code = `
import datetime
from langsmith import Client
client = Client()
for i in range(20):
    client.create_run("limited", {}, "chain", id="${id.slice(0, -2)}%02d" % i, project_name="limited", start_time=datetime.datetime.now(datetime.timezone.utc))
client.flush()
`
    await promisify(execFile)(PYTHON, ['-W', 'ignore', '-c', code], {
      env: {
        PATH: process.env['PATH'] ?? '',
        LANGSMITH_ENDPOINT: setup().proxy.url,
        LANGSMITH_API_KEY: setup().weir.key,
        LANGSMITH_WORKSPACE_ID: workspace_id,
      },
    })
    await drained(setup().weir)
    for (let i = 0; i < 20; i++) {
      const path = `/api/v1/runs/${id.slice(0, -2)}${String(i).padStart(2, '0')}`
      expect((await ask('GET', path)).status).toBe(200)
    }
  })
})
