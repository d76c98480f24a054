import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLogger } from './base/log.ts'
import { createMetrics } from './base/metrics.ts'
import { startTelemetry } from './telemetry.ts'

const logger = createLogger({ level: 'silent' })
afterEach(() => vi.unstubAllEnvs())

describe('startTelemetry', () => {
  it('does nothing without an endpoint', async () => {
    const telemetry = await startTelemetry({ endpoint: undefined, metrics: createMetrics(), logger })
    expect(trace.getTracer('x').startSpan('s').isRecording()).toBe(false)
    await telemetry.stop()
  })

  it('sends spans and the Prometheus metrics over OTLP, the rest at its stop', async () => {
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
    const telemetry = await startTelemetry({ endpoint, metrics, logger })
    trace.getTracer('weir').startSpan('a span of ours').end()
    await telemetry.stop()
    sink.close()
    expect(received.get('/v1/traces')).toContain('a span of ours')
    expect(received.get('/v1/traces')).toContain('weir')
    expect(received.get('/v1/metrics')).toContain('weir_test_total')
    expect(received.get('/v1/metrics')).toContain('stored')
    expect(received.get('/v1/metrics')).toContain('weir_test_seconds_sum')
  })

  it('gives up on an endpoint that does not answer', async () => {
    const silent = createServer(() => undefined)
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint)
    const telemetry = await startTelemetry({ endpoint, metrics: createMetrics(), logger })
    await telemetry.stop()
    silent.closeAllConnections()
    silent.close()
  }, 10_000)
})
