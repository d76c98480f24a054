import { beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { useDeployment } from '../deployments/use-deployment.ts'

const setup = useDeployment()

beforeAll(async () => {
  // The setup checks that some response fits the document.
  expect((await setup().request('/info')).status).toBe(200)
})

interface Found {
  id: string
  parent_run_id: string | null
  session_id: string
}

async function rpc(path: string, method: string, params: object, headers: Record<string, string>) {
  const response = await fetch(setup().url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': setup().weir.key, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as { result?: { task?: { id: string } }; error?: object }
}

const callEcho = (headers: Record<string, string>, meta: object = {}) =>
  rpc('/mcp', 'tools/call', { name: 'echo', arguments: { text: 'hi' }, _meta: meta }, headers)

/** The TraceRuns of a trace below this one, when the run of the graph has been stored. */
async function below(trace: string, parent: string): Promise<Found[]> {
  return await eventually(async () => {
    const body = { trace, select: ['id', 'parent_run_id', 'session_id'], limit: 100 }
    const { runs } = await setup().weir.json<{ runs: Found[] }>('/runs/query', body)
    const found = runs.filter(({ parent_run_id }) => parent_run_id === parent)
    expect(found).not.toEqual([])
    return found
  })
}

it('RUN-37: a call over MCP is recorded below the step of a caller that uses LangSmith', async () => {
  const [trace, step] = [newUuid(), newUuid()]
  const order = `20261128T000000000000Z${trace}.20261128T000001000000Z${step}`
  const project = `caller ${trace}`
  const baggage = `langsmith-project=${encodeURIComponent(project)}`
  expect((await callEcho({ 'langsmith-trace': order, baggage })).error).toBeUndefined()
  const found = await below(trace, step)
  const [session] = await setup().weir.json<{ id: string }[]>(`/sessions?name=${encodeURIComponent(project)}`)
  expect(found.map(({ session_id }) => session_id)).toEqual([session?.id])
})

it('RUN-37: a call over A2A is recorded below the span of a caller that uses OpenTelemetry', async () => {
  const trace = newUuid()
  const hex = trace.replaceAll('-', '')
  const span = 'b7ad6b7169203331'
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { text: 'hi' } }] }
  const { result } = await rpc(
    '/a2a/echo',
    'SendMessage',
    { message },
    { traceparent: `00-${hex}-${span}-01` },
  )
  const [thread, run] = result?.task?.id.split(':') ?? []
  const made = await setup().client.runs.get(thread ?? '', run ?? '')
  expect(made).toMatchObject({ weir: { trace_id: trace } })
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: DEPLOYMENT_NAME } }] }
  const begin = `${Date.now()}000000`
  const root = {
    traceId: hex,
    spanId: span,
    name: 'the caller',
    startTimeUnixNano: begin,
    endTimeUnixNano: begin,
  }
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [root] }] }] })
  const headers = { 'content-type': 'application/json' }
  const sent = await setup().weir.request('/otel/v1/traces', { method: 'POST', headers, body })
  expect(sent.status).toBe(200)
  // The root span has the id of the trace.
  expect((await below(trace, trace)).map(({ id }) => id)).toEqual([run])
})

it('RUN-37: traceparent in _meta of MCP counts too; a trace that is not recorded does not', async () => {
  const trace = newUuid()
  const traceparent = (flags: string) => `00-${trace.replaceAll('-', '')}-b7ad6b7169203331-${flags}`
  await callEcho({ traceparent: traceparent('00') })
  await callEcho({}, { traceparent: traceparent('01') })
  expect(await below(trace, '00000000-0000-0000-b7ad-6b7169203331')).toHaveLength(1)
})
