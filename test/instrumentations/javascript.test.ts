import { readFileSync } from 'node:fs'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/eventually.ts'
import { useWeir } from '../support/servers/use-weir.ts'
import { JS_CLIENTS, type JsClient } from './clients.ts'
import { compare } from './compare.ts'
import { readProject } from './read-back.ts'
import { readRecording } from './recorded.ts'
import { expectInTable, type Row } from './table.ts'
import { type MeteredVendor, startMeteredVendor } from './vendor/metered-vendor.ts'

const { current } = useWeir()
const { devDependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { devDependencies: Record<string, string> }
let vendor: MeteredVendor
beforeAll(async () => {
  vendor = await startMeteredVendor()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterAll(async () => {
  context.disable()
  await vendor.stop()
})

async function run({ title, packages, run: make }: JsClient, project: string): Promise<Row> {
  const { url, key } = current()
  const headers = { 'x-api-key': key, 'Langsmith-Project': project }
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, headers, timeoutMillis: PATIENCE_MS })
  const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: PATIENCE_MS })
  const provider = new TracerProvider({ spanProcessors: [processor] })
  await provider.getTracer('app').startActiveSpan('app', async (span) => {
    await make({ vendorUrl: vendor.url, weirUrl: url, key, project, provider }).finally(() => span.end())
  })
  await provider.forceFlush({ timeoutMillis: PATIENCE_MS })
  await provider.shutdown()
  const versions = packages.map((name) => `${name} ${devDependencies[name]}`).join(', ')
  return { title, versions, cells: compare(vendor.take(), await readProject(current(), project)) }
}

describe('instrumentations in JavaScript', () => {
  const rows: Row[] = []

  for (const [index, client] of JS_CLIENTS.entries())
    it(`${client.title} runs`, async () => rows.push(await run(client, `client-${index}`)))

  it('are read as docs/using/instrumentations.md says', async () => {
    expect(rows).toHaveLength(JS_CLIENTS.length)
    await expectInTable('javascript', rows)
  })
})

it('what a client in Rust has sent is read as docs/using/instrumentations.md says', async () => {
  const { versions, calls, requests } = await readRecording('rust')
  const { url, key } = current()
  for (const { type, body } of requests) {
    const headers = { 'x-api-key': key, 'Langsmith-Project': 'rust', 'content-type': type }
    const answer = await fetch(`${url}/v1/traces`, {
      method: 'POST',
      headers,
      body: Buffer.from(body, 'base64'),
    })
    expect(answer.status).toBe(200)
  }
  const cells = compare(calls, await readProject(current(), 'rust'))
  await expectInTable('recorded', [{ title: 'rig', versions, cells }])
})
