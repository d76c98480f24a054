import { within } from './base/background/within.ts'
import { diag, DiagLogLevel, metrics as otelMetrics } from '@opentelemetry/api'
import type { Logger } from './base/log.ts'
import type { Metrics } from './base/metrics.ts'

/** OpenTelemetry of this process. */
export interface Telemetry {
  /** Sends waiting data, within a few seconds; never rejects. */
  stop(): Promise<void>
}

const STOP_MS = 3000

/** Exports the metrics through OpenTelemetry as well, under the same names; histograms have what comes from now on. */
function bridgeMetrics(metrics: Metrics): () => void {
  const meter = otelMetrics.getMeter('weir')
  const stops: (() => void)[] = []
  const stop = metrics.each((metric) => {
    const { name, help: description } = metric
    if (metric.type === 'histogram') {
      const advice = { explicitBucketBoundaries: [...metric.bounds] }
      const histogram = meter.createHistogram(name, { description, advice })
      stops.push(metric.follow((value, labels) => histogram.record(value, labels)))
      return
    }
    const instrument =
      metric.type === 'gauge'
        ? meter.createObservableGauge(name, { description })
        : meter.createObservableCounter(name, { description })
    instrument.addCallback((result) => {
      for (const { labels, value } of metric.samples()) result.observe(value, labels)
    })
  })
  return () => {
    stop()
    for (const end of stops) end()
  }
}

/**
 * Starts the export of traces and metrics over OTLP if `endpoint` (OTEL_EXPORTER_OTLP_ENDPOINT) is set; the SDK reads
 * it and the other OTEL_ variables itself. If it is not set, nothing is loaded. Must be called before a tracer or meter
 * is created.
 */
export async function startTelemetry(options: {
  endpoint: string | undefined
  metrics: Metrics
  logger: Logger
  /** Maximum duration of `stop`; default 3 s. */
  stop_ms?: number
}): Promise<Telemetry> {
  const { endpoint, metrics, logger, stop_ms = STOP_MS } = options
  if (endpoint === undefined) return { stop: async () => undefined }
  const { NodeSDK } = await import('@opentelemetry/sdk-node')
  const warn = (message: string): void => logger.warn({ component: 'opentelemetry' }, message)
  const quiet = (): void => undefined
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN },
  )
  const sdk = new NodeSDK({ serviceName: 'weir', instrumentations: [] })
  sdk.start()
  const stopBridge = bridgeMetrics(metrics)
  return {
    async stop() {
      stopBridge()
      const sent = sdk.shutdown()
      const noted = sent.catch((error: unknown) => logger.warn({ err: error }, 'telemetry not sent'))
      await within(noted, stop_ms, () => undefined)
    },
  }
}
