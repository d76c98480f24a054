import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ROOT_CONTEXT, SpanKind, trace, type Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { spanUuid } from '../../../src/trace/otel/span/ids.ts'
import { eventually, PATIENCE_MS } from '../../support/eventually.ts'
import { runCommand } from '../../support/run-command.ts'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'

type Session = SchemaTypes['session']
interface Listed {
  id: string
  trace_id: string
  name: string
  parent_run_id: string | null
}

const DAY = 86_400_000
const CORPUS = new URL('../../corpus/otel-vercel-proto/', import.meta.url)
const { current } = useWeir()

async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
  const answer = await current().request(`/api/v1${path}`, init)
  return { status: answer.status, body: await answer.json() }
}

async function makeProject(fields: object): Promise<Session> {
  const { status, body } = await ask('POST', '/sessions', { name: `filtered ${newUuid()}`, ...fields })
  expect(status, JSON.stringify(body)).toBe(200)
  return body as Session
}

async function runsOf(session: Session): Promise<Listed[]> {
  await drained(current())
  const { body } = await ask('POST', '/runs/query', { session: [session.id], limit: 100 })
  return (body as { runs: Listed[] }).runs
}

async function countedTraces(session: Session): Promise<number> {
  const today = Math.floor(Date.now() / DAY) * DAY
  const query = new URLSearchParams({
    start_time: new Date(today - DAY).toISOString(),
    end_time: new Date(today + DAY).toISOString(),
    workspace_ids: session.tenant_id,
    group_by: 'project',
  })
  const { body } = await ask('GET', `/orgs/current/billing/granular-usage?${query.toString()}`)
  const { usage } = body as { usage: { dimensions: { project_id: string }; traces: number }[] }
  return usage
    .filter(({ dimensions }) => dimensions.project_id === session.id)
    .reduce((sum, { traces }) => sum + traces, 0)
}

/** A server's request as Next.js traces it: three spans of its own, and below them what `work` starts. */
function webRequest(next: Tracer, work?: (parent: ReturnType<Tracer['startSpan']>) => void): string[] {
  const root = next.startSpan('GET /api/chat', { kind: SpanKind.SERVER }, ROOT_CONTEXT)
  const route = next.startSpan('executing api route (app)', {}, trace.setSpan(ROOT_CONTEXT, root))
  work?.(route)
  next.startSpan('start response', {}, trace.setSpan(ROOT_CONTEXT, route)).end()
  route.end()
  root.end()
  return [root, route].map((span) => span.spanContext().spanId)
}

/** Sends each span alone as it ends, so that children arrive before their parents. */
async function send(session: Session, requests: (next: Tracer, ai: Tracer) => void): Promise<void> {
  const headers = { 'x-api-key': current().key, 'Langsmith-Project': session.name }
  const exporter = new OTLPTraceExporter({ url: `${current().url}/v1/traces`, headers })
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  requests(provider.getTracer('next.js', '0.0.1'), provider.getTracer('ai'))
  await provider.forceFlush({ timeoutMillis: PATIENCE_MS })
  await provider.shutdown()
}

function modelCall(ai: Tracer, parent: ReturnType<Tracer['startSpan']>): void {
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' }
  ai.startSpan('chat gpt-4o', { attributes }, trace.setSpan(ROOT_CONTEXT, parent)).end()
}

/** A recorded export of the Vercel AI SDK with new ids. */
function recordedExport(): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(readFileSync(new URL('request-1.body', CORPUS)))
  const { spans } = JSON.parse(readFileSync(new URL('decoded.json', CORPUS), 'utf8')) as {
    spans: { traceId: string; spanId: string }[]
  }
  for (const id of new Set(spans.flatMap(({ traceId, spanId }) => [traceId, spanId]))) {
    const from = Buffer.from(id, 'hex')
    const to = randomBytes(from.length)
    const view = Buffer.from(body.buffer)
    for (let at = view.indexOf(from); at >= 0; at = view.indexOf(from, at)) view.set(to, at)
  }
  return body
}

describe('filters of spans', () => {
  it('U1: of five requests with two model calls, two traces remain, and two are counted', async () => {
    const plain = await makeProject({})
    const filtered = await makeProject({ span_filters: [{ scope: 'next.js' }] })
    const requests = (next: Tracer, ai: Tracer): void => {
      for (let n = 0; n < 3; n++) webRequest(next)
      for (let n = 0; n < 2; n++) webRequest(next, (route) => modelCall(ai, route))
    }
    await send(plain, requests)
    await send(filtered, requests)
    expect(await runsOf(plain)).toHaveLength(17)
    const runs = await runsOf(filtered)
    expect(runs.map(({ name }) => name)).toEqual(['chat gpt-4o', 'chat gpt-4o'])
    for (const { id, parent_run_id } of runs) {
      expect(parent_run_id).toBeNull()
      const { body } = await ask('GET', `/runs/${id}`)
      expect(body).toMatchObject({ id, parent_run_id: null, name: 'chat gpt-4o' })
      expect(JSON.stringify(body)).not.toContain('parent_unknown')
    }
    const { body: trace_ } = await ask('GET', `/traces/${runs[0]!.trace_id}`)
    expect((trace_ as { runs: Listed[] }).runs.map(({ id }) => id)).toEqual([runs[0]!.id])
    await eventually(async () => {
      expect(await countedTraces(plain)).toBe(5)
      expect(await countedTraces(filtered)).toBe(2)
    })
  })

  it('the nearest kept span is the root, and shows question and answer of the model call below it', async () => {
    const project = await makeProject({ span_filters: [{ scope: 'next.js' }] })
    await send(project, (next, ai) => {
      webRequest(next, (route) => {
        const handler = ai.startSpan('handler', {}, trace.setSpan(ROOT_CONTEXT, route))
        const attributes = {
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.prompt.0.role': 'user',
          'gen_ai.prompt.0.content': 'Which day is it?',
          'gen_ai.completion.0.role': 'assistant',
          'gen_ai.completion.0.content': 'Monday.',
        }
        ai.startSpan('chat', { attributes }, trace.setSpan(ROOT_CONTEXT, handler)).end()
        handler.end()
      })
    })
    await drained(current())
    const { body } = await ask('POST', '/runs/query', { session: [project.id], is_root: true })
    expect((body as { runs: unknown[] }).runs).toEqual([
      expect.objectContaining({
        name: 'handler',
        inputs_preview: expect.stringContaining('Which day is it?') as string,
        outputs_preview: expect.stringContaining('Monday.') as string,
      }),
    ])
  })

  it('a filtered span cannot be read, and a deleted trace is gone with it', async () => {
    const project = await makeProject({ span_filters: [{ scope: 'next.js', name: 'GET *' }] })
    let ids: string[] = []
    await send(project, (next) => {
      ids = webRequest(next)
    })
    const runs = await runsOf(project)
    const [top] = runs.filter(({ name }) => name.startsWith('executing'))
    expect(top).toMatchObject({ id: spanUuid(ids[1]!), parent_run_id: null })
    const below = runs.find(({ name }) => name === 'start response')
    expect(below).toMatchObject({ parent_run_id: top!.id, trace_id: top!.trace_id })
    expect((await ask('GET', `/runs/${top!.trace_id}`)).status).toBe(404)
    expect((await ask('DELETE', `/traces/${top!.trace_id}`)).status).toBe(202)
    await eventually(async () => expect(await runsOf(project)).toEqual([]))
  })

  it('OTLP-7: a filter for every span leaves out none of a recorded export that is about models', async () => {
    const projects = [await makeProject({}), await makeProject({ span_filters: [{ name: '*' }] })]
    for (const { name } of projects) {
      const headers = { 'content-type': 'application/x-protobuf', 'Langsmith-Project': name }
      const init = { method: 'POST', headers, body: recordedExport() }
      const answer = await current().request('/otel/v1/traces', init)
      expect(answer.status).toBe(200)
    }
    const [all, kept] = [await runsOf(projects[0]!), await runsOf(projects[1]!)]
    expect(all.length).toBeGreaterThan(10)
    expect(kept.map(({ name }) => name).sort()).toEqual(all.map(({ name }) => name).sort())
  })

  it('a filter that cannot work is refused with the field, and an empty list keeps all', async () => {
    const { id } = await makeProject({ span_filters: [{ scope: 'next.js' }] })
    for (const bad of [{}, { value: 'x' }, { scop: 'next.js' }, { scope: '' }]) {
      const { status, body } = await ask('PATCH', `/sessions/${id}`, { span_filters: [bad] })
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('span_filters')])
    }
    const changed = await ask('PATCH', `/sessions/${id}`, { description: 'x' })
    expect(changed.body).toMatchObject({ span_filters: [{ scope: 'next.js' }] })
    const cleared = await ask('PATCH', `/sessions/${id}`, { span_filters: [] })
    expect(cleared.body).toMatchObject({ span_filters: [] })
  })

  it('weir projects filter adds, lists and clears them', async () => {
    const { name } = await makeProject({})
    const run = async (...options: string[]): Promise<string> => {
      const args = ['projects', 'filter', name, ...options, '--url', current().url, '--key', current().key]
      const { code, stdout, stderr } = await runCommand(args, { env: {} })
      expect([code, stderr]).toEqual([0, ''])
      return stdout
    }
    expect(await run()).toContain('are kept')
    await run('--scope', 'next.js')
    expect(await run('--attribute', 'http.route', '--value', '/health*')).toContain('scope "next.js"')
    expect(JSON.parse(await run('--format', 'json'))).toEqual([
      { scope: 'next.js' },
      { attribute: 'http.route', value: '/health*' },
    ])
    expect(await run('--clear')).toContain('are kept')
  })
})
