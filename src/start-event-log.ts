import { systemClock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import type { Metrics } from './base/metrics.ts'
import type { Config } from './config.ts'
import { createEventLog, type OpenEventLog } from './events/create-event-log.ts'
import type { EventBounds } from './events/event-store.ts'
import { RUN_DONE } from './events/views.ts'
import type { StoreChecks } from './http/store-checks.ts'
import { claimRedis } from './claim-stores.ts'
import { createRedisEventStore } from './storage/redis/event-store.ts'
import type { Installation } from './storage/installation.ts'
import { openRedis } from './storage/redis/redis.ts'
import type { Database } from './storage/sql/database.ts'
import { openEventOutbox } from './storage/sql/event-outbox.ts'
import { createSqlEventStore } from './storage/sql/event-store.ts'
import { createEventWire } from './storage/sql/event-wire.ts'
import { createRunEvents, type RunEvents } from './storage/sql/run-events.ts'

export interface EventLogStart {
  config: Pick<Config, 'databaseUrl' | 'redisUrl' | 'eventsMaxBytes'>
  logger: Logger
  metrics: Metrics
  /** Of runs. */
  database: Database
  installation: Pick<Installation, 'claim'>
  bounds?: EventBounds
}

/** The log of events, and what writes the ends of runs into it with the transactions of the run store. */
export interface StartedEventLog {
  events: OpenEventLog
  runEvents: RunEvents
  /** What it stands on besides the database of runs, for `/ok?check_db=1`. */
  checks: StoreChecks
  /** Before the database is closed. */
  stop(): Promise<void>
}

/**
 * What is kept of a thread: a day, so that a client that was away over night comes back to where it was, but no more than
 * some long conversations come to.
 */
const BOUNDS: Omit<EventBounds, 'total_chars'> = {
  events: 50_000,
  chars: 64 << 20,
  age_ms: 24 * 3_600_000,
}

function boundsOf({ eventsMaxBytes }: EventLogStart['config']): EventBounds {
  return { ...BOUNDS, total_chars: eventsMaxBytes }
}

const CHECK_KEY_MS = 1_000

/** Opens the log of events: in Redis when there is one, else in the database of runs. */
export function startEventLog(start: EventLogStart): StartedEventLog {
  const { redisUrl } = start.config
  return redisUrl === undefined ? startInDatabase(start) : startInRedis(start, redisUrl)
}

function startInDatabase({
  config,
  logger,
  metrics,
  database,
  bounds = boundsOf(config),
}: EventLogStart): StartedEventLog {
  const clock = systemClock
  const url = config.databaseUrl
  const wire = url === undefined ? undefined : createEventWire({ url, logger })
  const store = createSqlEventStore({ database, clock, bounds, ...(wire && { wire }) })
  const events = createEventLog({ store, logger, metrics })
  const committed: OpenEventLog['committed'] = (thread, chunk) => events.committed(thread, chunk)
  return {
    events,
    runEvents: createRunEvents({ clock, wire, committed }),
    checks: {},
    stop: () => events.close(),
  }
}

function startInRedis(
  { config, logger, metrics, database, installation, bounds = boundsOf(config) }: EventLogStart,
  redisUrl: string,
): StartedEventLog {
  const clock = systemClock
  const redis = openRedis(redisUrl, logger)
  const checkMark = claimRedis(installation, redis, logger)
  const store = createRedisEventStore({
    redis,
    clock,
    bounds,
    endsRun: ({ event }) => event === RUN_DONE,
  })
  const events = createEventLog({ store, logger, metrics })
  const runEvents = openEventOutbox({
    database,
    clock,
    logger,
    async deliver(id, thread, items) {
      const chunk = await store.appendOnce(id, thread, items)
      if (chunk !== undefined) events.committed(thread, chunk)
    },
    retire: (thread) => store.retire(thread),
  })
  return {
    events,
    runEvents,
    // A write: a Redis that is full, or no longer the primary, still answers reads.
    checks: { redis: () => redis.command('SET', 'weir:check', 1, 'PX', CHECK_KEY_MS).then(checkMark) },
    async stop() {
      await runEvents.close()
      await events.close()
    },
  }
}
