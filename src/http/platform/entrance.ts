import type { Accepted } from '../../ingest/ingester.ts'
import { type BodyAdmission, createAdmission } from '../body/admission.ts'
import type { AppDeps } from './app-deps.ts'
import { createRefusalLog, type RefusalLog } from '../server/refusal-log.ts'

export interface Entrance {
  admission: BodyAdmission
  refusals: RefusalLog
  /** Counts an export of metrics, which Weir does not store. Returns the result of a fully accepted export. */
  dropMetrics(): Accepted
}

/** Creates an entrance and registers its metrics, so there must be only one for each platform API. */
export function createEntrance({
  metrics,
  logger,
  clock,
  limits,
}: Pick<AppDeps, 'metrics' | 'logger' | 'clock' | 'limits'>): Entrance {
  const admission = createAdmission(limits.max_inflight_bytes)
  metrics.observedGauge(
    'weir_ingest_in_flight_bytes',
    'Request bodies held in memory.',
    admission.inFlightBytes,
  )
  const dropped = metrics.counter(
    'weir_otlp_metrics_dropped_total',
    'Exports of OpenTelemetry metrics that were accepted and not kept.',
  )
  return {
    admission,
    refusals: createRefusalLog({ logger, clock }),
    dropMetrics() {
      dropped.inc()
      return { accepted: 0, feedback: 0, rejected: [], truncated: false, warnings: [] }
    },
  }
}
