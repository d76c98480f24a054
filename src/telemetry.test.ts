import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { metrics as otelMetrics, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { PATIENCE_MS } from '../test/support/eventually.ts'
import { createLogger } from './base/log.ts'
import { createMetrics } from './base/metrics.ts'
import { startTelemetry } from './telemetry.ts'

const logger = createLogger({ level: 'silent' })
/** Longer than the SDK would wait for an endpoint that does not answer. */
const LONGER_THAN_THE_TEST_MS = '10000000'
interface SentMetric {
  name: string
  sum?: { dataPoints: object[] }
  gauge?: { dataPoints: object[] }
  histogram?: { dataPoints: object[] }
}

interface SentMetrics {
  resourceMetrics: { scopeMetrics: { metrics: SentMetric[] }[] }[]
}

const METRIC_TIMES = ['METRIC_EXPORT_INTERVAL', 'METRIC_EXPORT_TIMEOUT']
afterEach(() => {
  vi.unstubAllEnvs()
  // A second SDK is ignored while the first one is registered.
  trace.disable()
  otelMetrics.disable()
})

describe('startTelemetry', () => {
  it('does nothing without an endpoint', async () => {
    const telemetry = await startTelemetry({ endpoint: undefined, metrics: createMetrics(), logger })
    expect(trace.getTracer('x').startSpan('s').isRecording()).toBe(false)
    await telemetry.stop()
  })

  it('sends spans and the Prometheus metrics over OTLP, histograms whole, remaining ones at its stop', async () => {
    const received = new Map<string, string>()
    const sink = createServer((req, res) => {
      void buffer(req).then((body) => {
        const path = req.url ?? ''
        received.set(path, (received.get(path) ?? '') + body.toString('utf8'))
        res.end()
      })
    })
    await once(sink.listen(0, '127.0.0.1'), 'listening')
    const endpoint = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint)
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json')
    const metrics = createMetrics()
    metrics.counter('weir_test_total', 'T.').inc({ code: 'stored' }, 3)
    const seconds = metrics.histogram('weir_test_seconds', 'S.', [0.1, 1])
    const telemetry = await startTelemetry({ endpoint, metrics, logger, stop_ms: PATIENCE_MS })
    for (const value of [0.05, 0.5, 0.5, 3]) seconds.observe(value, { route: '/x' })
    metrics.gauge('weir_late', 'Registered later.').set(7)
    trace.getTracer('weir').startSpan('a span of ours').end()
    await telemetry.stop()
    sink.close()
    expect(received.get('/v1/traces')).toContain('a span of ours')
    expect(received.get('/v1/traces')).toContain('weir')
    const found = new Map(
      (JSON.parse(received.get('/v1/metrics') ?? '') as SentMetrics).resourceMetrics
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap((scope) => scope.metrics)
        .map((metric) => [metric.name, metric]),
    )
    const code = { key: 'code', value: { stringValue: 'stored' } }
    expect(found.get('weir_test_total')?.sum?.dataPoints).toMatchObject([{ asDouble: 3, attributes: [code] }])
    expect(found.get('weir_late')?.gauge?.dataPoints).toMatchObject([{ asDouble: 7 }])
    expect(found.get('weir_test_seconds')?.histogram?.dataPoints).toMatchObject([
      {
        attributes: [{ key: 'route', value: { stringValue: '/x' } }],
        explicitBounds: [0.1, 1],
        bucketCounts: [1, 2, 1],
        sum: 4.05,
        count: 4,
      },
    ])
  })

  it('stops waiting for an endpoint that does not answer', async () => {
    const silent = createServer(() => undefined)
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint)
    for (const name of ['EXPORTER_OTLP_TIMEOUT', 'BSP_EXPORT_TIMEOUT', ...METRIC_TIMES])
      vi.stubEnv(`OTEL_${name}`, LONGER_THAN_THE_TEST_MS)
    const telemetry = await startTelemetry({ endpoint, metrics: createMetrics(), logger, stop_ms: 100 })
    trace.getTracer('weir').startSpan('a span of ours').end()
    const asked = once(silent, 'request')
    await Promise.all([telemetry.stop(), asked])
    silent.closeAllConnections()
    silent.close()
  })
})
