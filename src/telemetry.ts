import {
  type Attributes,
  diag,
  DiagLogLevel,
  metrics as otelMetrics,
  type Observable,
  type ObservableResult,
} from '@opentelemetry/api'
import type { Logger } from './base/log.ts'
import type { Metrics } from './base/metrics.ts'

/** OpenTelemetry of this process. */
export interface Telemetry {
  /** Sends waiting data, within a few seconds; never rejects. */
  stop(): Promise<void>
}

const STOP_MS = 3000
const DISCOVER_MS = 10_000
const TYPE = /^# TYPE ([a-z_][a-z0-9_]*) (\w+)$/gm
const SAMPLE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/gm
const LABEL = /([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"/g

function toAttributes(labels: string): Attributes {
  return Object.fromEntries([...labels.matchAll(LABEL)].map(([, name = '', value = '']) => [name, value]))
}

/**
 * Exports the metrics of the Prometheus text through OpenTelemetry as well, under the same names: a counter as a
 * counter, a gauge as a gauge, a histogram as its `_sum` and `_count`. Metrics that are registered later are found
 * within 10 s.
 */
function bridgeMetrics(metrics: Metrics): () => void {
  const meter = otelMetrics.getMeter('weir')
  const known = new Map<string, Observable>()
  const observe = (result: Pick<ObservableResult, 'observe'>, name: string): void => {
    for (const [, sample, labels = '', value] of metrics.render().matchAll(SAMPLE)) {
      if (sample === name) result.observe(Number(value), toAttributes(labels))
    }
  }
  const add = (name: string, type: string): void => {
    if (known.has(name)) return
    const instrument =
      type === 'gauge' ? meter.createObservableGauge(name) : meter.createObservableCounter(name)
    instrument.addCallback((result) => observe(result, name))
    known.set(name, instrument)
  }
  const discover = (): void => {
    for (const [, name = '', type = ''] of metrics.render().matchAll(TYPE)) {
      if (type !== 'histogram') add(name, type)
      else for (const part of ['_sum', '_count']) add(name + part, type)
    }
  }
  discover()
  const timer = setInterval(discover, DISCOVER_MS)
  timer.unref()
  return () => clearInterval(timer)
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
      const late = new Promise<void>((resolve) => void setTimeout(resolve, stop_ms).unref())
      await Promise.race([
        sdk.shutdown().catch((error: unknown) => logger.warn({ err: error }, 'telemetry not sent')),
        late,
      ])
    },
  }
}
