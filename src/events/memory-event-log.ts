import type { Clock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import { createEventLog, type OpenEventLog } from './create-event-log.ts'
import type { EventBounds } from './event-store.ts'
import { createMemoryEventStore } from './memory-event-store.ts'

const BOUNDS: EventBounds = { events: 20_000, chars: 8 << 20, age_ms: 120_000, total_chars: 1e12 }

/** An event log in memory, for tests: nothing survives, nothing is fenced. */
export function createMemoryEventLog(clock: Clock, bounds: EventBounds = BOUNDS): OpenEventLog {
  const store = createMemoryEventStore(clock, bounds)
  return createEventLog({ store, logger: createLogger({ level: 'silent' }), metrics: createMetrics() })
}
