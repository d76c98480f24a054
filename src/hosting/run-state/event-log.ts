import { type Clock, systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Sweeps } from '../../base/background/sweeps.ts'
import type { Config } from '../../config.ts'
import { createEventLog, type OpenEventLog } from '../../events/create-event-log.ts'
import type { EventBounds } from '../../events/event-store.ts'
import { RUN_DONE } from '../../events/views.ts'
import type { StoreChecks } from '../../base/background/store-checks.ts'
import { claimLater } from '../../storage/own-stores.ts'
import { createRedisEventStore } from '../../storage/redis/event-store.ts'
import type { RedisConnection } from '../../storage/redis/redis.ts'
import { type Installation, redisStore } from '../../storage/installation.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { openEventOutbox } from '../../storage/sql/events/outbox.ts'
import { createSqlEventStore } from '../../storage/sql/events/event-store.ts'
import { createEventWire } from '../../storage/sql/events/wire.ts'
import { createRunEvents, type RunEvents } from '../../storage/sql/events/run-events.ts'

export interface EventLogStart {
  config: Pick<Config, 'databaseUrl' | 'redisUrl' | 'eventsMaxBytes'>
  logger: Logger
  metrics: Metrics
  sweeps: Sweeps
  database: Database
  /**
   * The clock of the database, for the ids of events. With a clock for each server, a reader that has seen events which
   * Redis then lost would skip the later ones of a server that is behind. Default: the machine's clock.
   */
  clock?: Clock
  installation: Pick<Installation, 'claim'>
  bounds?: EventBounds
}

/** The event log, and the writer of the ends of runs, which uses the transactions of the run store. */
export interface StartedEventLog {
  events: OpenEventLog
  runEvents: RunEvents
  /** Stores of events other than the run database, for `/ok?check_db=1`. */
  checks: StoreChecks
  /** Must be called before the database is closed. */
  stop(): Promise<void>
}

/**
 * Limits of a thread's events: a day, so that a client can resume the next morning, and the size of some long
 * conversations.
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
const TRIM_EVERY_MS = 60_000

/** Opens the event log: in Redis if it is configured, else in the database of runs. */
export async function startEventLog(start: EventLogStart): Promise<StartedEventLog> {
  const { redisUrl } = start.config
  return redisUrl === undefined ? startInDatabase(start) : startInRedis(start, redisUrl)
}

function startInDatabase({
  config,
  logger,
  metrics,
  sweeps,
  database,
  clock = systemClock,
  bounds = boundsOf(config),
}: EventLogStart): StartedEventLog {
  const url = config.databaseUrl
  const wire = url === undefined ? undefined : createEventWire({ url, logger })
  const store = createSqlEventStore({ database, clock, bounds, ...(wire && { wire }) })
  const events = createEventLog({ store, logger, metrics })
  const trimming = sweeps.start({
    name: 'events',
    everyMs: TRIM_EVERY_MS,
    work: () => store.trim(null),
  })
  const committed: OpenEventLog['committed'] = (thread, chunk) => events.committed(thread, chunk)
  return {
    events,
    runEvents: createRunEvents({ clock, wire, committed }),
    checks: {},
    async stop() {
      await trimming.stop()
      await events.close()
    },
  }
}

async function startInRedis(start: EventLogStart, redisUrl: string): Promise<StartedEventLog> {
  const { config, logger, metrics, database, installation, bounds = boundsOf(config) } = start
  const { clock = systemClock } = start
  // Loading this takes a tenth of a server's start, so it is loaded only if it is used.
  const { openRedis } = await import('../../storage/redis/redis.ts')
  const redis = openRedis(redisUrl, logger)
  try {
    await assertMode(redis)
  } catch (error) {
    await redis.close()
    throw error
  }
  const stopping = new AbortController()
  const mark = claimLater(installation, redisStore(redis), { logger, stopping: stopping.signal })
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
  redis.onConnect(() => runEvents.repeat())
  return {
    events,
    runEvents,
    // The check writes, because a Redis that is full or a replica still answers reads.
    checks: { redis: () => redis.command('SET', 'weir:check', 1, 'PX', CHECK_KEY_MS).then(mark.check) },
    async stop() {
      stopping.abort()
      await runEvents.close()
      await events.close()
    },
  }
}

/**
 * Checks the mode of Redis. A Redis that does not answer now, or does not report its mode, is accepted.
 * @throws AppError config_invalid for Redis Cluster, and for a Sentinel without the name of its primary
 */
async function assertMode(redis: Pick<RedisConnection, 'mode'>): Promise<void> {
  const mode = await redis.mode().catch(() => undefined)
  if (mode === 'cluster') {
    throw new AppError('config_invalid', {
      message:
        'REDIS_URL leads to Redis Cluster, which Weir does not support. Give the address of one Redis server, of a proxy that leads to the primary, or of Sentinels. Events of streams need no cluster: Redis keeps those of one day.',
    })
  }
  if (mode === 'sentinel') {
    throw new AppError('config_invalid', {
      message:
        'REDIS_URL leads to Redis Sentinel. Write it as redis+sentinel://user:password@host:26379,host:26379/name, with the name under which the Sentinels know the primary.',
    })
  }
}
