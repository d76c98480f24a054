import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { dashed } from '../../../src/base/ids.ts'
import { startCollector, withoutCollector } from '../../support/servers/collector.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const TRACES = 300
const CHILDREN = 3
const KILLS = 3

/** A trace of a root and its children as OTLP's JSON. */
function traceBody(trace_id: string): string {
  const now = BigInt(Date.now()) * 1_000_000n
  const root = randomBytes(8).toString('hex')
  const span = (spanId: string, parentSpanId?: string): object => ({
    traceId: trace_id,
    spanId,
    ...(parentSpanId && { parentSpanId }),
    name: parentSpanId === undefined ? 'root' : 'child',
    startTimeUnixNano: String(now),
    endTimeUnixNano: String(now + 1_000_000n),
  })
  const children = Array.from({ length: CHILDREN }, () => span(randomBytes(8).toString('hex'), root))
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span(root), ...children] }] }] })
}

async function send(url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`the Collector answered ${answer.status}`)
  await answer.arrayBuffer()
}

/** For each trace, its number of runs, over all projects that list it. */
async function listed(weir: WeirProcess): Promise<Map<string, number>> {
  const projects = await weir.json<{ id: string }[]>('/api/v1/sessions')
  const counts = new Map<string, number>()
  for (const { id } of projects) {
    let cursor: string | null = null
    do {
      const body = JSON.stringify({ session: [id], limit: 100, ...(cursor !== null && { cursor }) })
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      type Page = { runs: { trace_id: string }[]; cursors: { next: string | null } }
      const page: Page = await weir.json<Page>('/api/v1/runs/query', init)
      for (const { trace_id } of page.runs) counts.set(trace_id, (counts.get(trace_id) ?? 0) + 1)
      cursor = page.cursors.next
    } while (cursor !== null)
  }
  return counts
}

const WAYS = [
  ['over HTTP', ['http']],
  ['over gRPC', ['grpc']],
  ['over both at once, to two projects', ['http', 'grpc']],
] as const

describe.skipIf(withoutCollector !== '')(
  `the Collector before a server that is killed${withoutCollector}`,
  () => {
    it.each(WAYS)('%s: no span is lost, stored twice or in two projects', async (_, protocols) => {
      const { dir, remove } = await temporaryDir()
      const [port, grpcPort] = [await fixedPort(), await fixedPort()]
      const start = (): Promise<WeirProcess> =>
        startWeir(dir, { PORT: String(port), OTLP_GRPC_PORT: String(grpcPort) })
      let weir = await start()
      const targets = protocols.map((protocol, i) => ({
        protocol,
        url: `http://127.0.0.1:${protocol === 'grpc' ? grpcPort : port}`,
        headers: { 'x-api-key': KEY, 'langsmith-project': `project-${i}` },
      }))
      const collector = await startCollector(dir, targets)
      const ids = Array.from({ length: TRACES }, () => randomBytes(16).toString('hex'))
      try {
        for (const [i, id] of ids.entries()) {
          await send(collector.url, traceBody(id))
          if (i % (TRACES / KILLS) === TRACES / KILLS / 2) {
            await weir.kill()
            weir = await start()
          }
        }
        // A Collector that stops drops the data that it would have sent again.
        await eventually(async () => expect((await listed(weir)).size).toBe(TRACES))
        await collector.stop()
        await weir.drained()
        const counts = await listed(weir)
        expect(counts.size).toBe(TRACES)
        expect(ids.filter((id) => counts.get(dashed(id)) !== 1 + CHILDREN)).toEqual([])
      } finally {
        await collector.stop()
        await weir.stop()
        await remove()
      }
    })
  },
)
