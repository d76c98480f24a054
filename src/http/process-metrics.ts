import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from '../base/metrics.ts'

const RESOLUTION_MS = 10
const NANOS = 1e9

/**
 * Registers what the process knows of itself: memory, and how late the event loop ran. The delays are those since
 * the scrape before, so a bench reads its own window; returns what ends the measuring.
 */
export function observeProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  // The sampled interval holds the resolution itself.
  const seconds = (nanos: number): number => Math.max(0, nanos / NANOS - RESOLUTION_MS / 1000)
  metrics.observedGauge(
    'nodejs_event_loop_delay_p999_seconds',
    'Event loop delay since the last scrape, 99.9th percentile.',
    () => seconds(delay.percentile(99.9)),
  )
  // Registered last and so read last: starts the next window.
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
