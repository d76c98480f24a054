import type { Metrics } from '../base/metrics.ts'
import type { Ingester } from './ingester.ts'

/** Registers the gauges of what waits for the store. */
export function observeIngest(metrics: Metrics, ingester: Ingester): void {
  metrics.observedGauge(
    'weir_ingest_waiting',
    'Items acknowledged and not yet confirmed by the store.',
    () => ingester.health().waiting,
  )
  metrics.observedGauge(
    'weir_ingest_log_bytes',
    'Bytes of the ingest log that wait for the store.',
    () => ingester.health().log.bytes,
  )
}
