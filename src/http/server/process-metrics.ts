import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from '../../base/metrics.ts'

const RESOLUTION_MS = 10
const NANOS = 1e9

/**
 * Registers metrics of the process: memory, and delays of the event loop since the previous scrape, so that a benchmark
 * reads its own window. Returns a function that stops measuring.
 */
export function observeProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  // The sampled value includes the sampling interval, which is subtracted.
  const seconds = (nanos: number): number => Math.max(0, nanos / NANOS - RESOLUTION_MS / 1000)
  metrics.observedGauge(
    'nodejs_event_loop_delay_p999_seconds',
    'Event loop delay since the last scrape, 99.9th percentile.',
    () => seconds(delay.percentile(99.9)),
  )
  // This metric is registered last, so it is read last and can start the next window.
  metrics.observedGauge(
    'nodejs_event_loop_delay_max_seconds',
    'Event loop delay since the last scrape, maximum.',
    () => {
      const max = seconds(delay.max)
      delay.reset()
      return max
    },
  )
  metrics.observedGauge('process_resident_memory_bytes', 'Resident memory of this process.', () =>
    process.memoryUsage.rss(),
  )
  return () => void delay.disable()
}
