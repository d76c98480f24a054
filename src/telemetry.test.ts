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

  it('sends spans and the Prometheus metrics over OTLP, remaining ones at its stop', async () => {
    const received = new Map<string, string>()
    const sink = createServer((req, res) => {
      void buffer(req).then((body) => {
        const path = req.url ?? ''
        received.set(path, (received.get(path) ?? '') + body.toString('latin1'))
        res.end()
      })
    })
    await once(sink.listen(0, '127.0.0.1'), 'listening')
    const endpoint = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint)
    const metrics = createMetrics()
    metrics.counter('weir_test_total', 'T.').inc({ code: 'stored' }, 3)
    metrics.histogram('weir_test_seconds', 'S.').observe(1)
    const telemetry = await startTelemetry({ endpoint, metrics, logger, stop_ms: PATIENCE_MS })
    trace.getTracer('weir').startSpan('a span of ours').end()
    await telemetry.stop()
    sink.close()
    expect(received.get('/v1/traces')).toContain('a span of ours')
    expect(received.get('/v1/traces')).toContain('weir')
    expect(received.get('/v1/metrics')).toContain('weir_test_total')
    expect(received.get('/v1/metrics')).toContain('stored')
    expect(received.get('/v1/metrics')).toContain('weir_test_seconds_sum')
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
