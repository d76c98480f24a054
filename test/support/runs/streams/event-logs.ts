import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, onTestFinished } from 'vitest'
import type { Clock } from '../../../../src/base/clock.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { createMetrics } from '../../../../src/base/metrics.ts'
import { createEventLog, type OpenEventLog } from '../../../../src/events/create-event-log.ts'
import type { EventBounds, EventStore } from '../../../../src/events/event-store.ts'
import { createMemoryEventStore } from './memory-event-store.ts'
import { RUN_DONE } from '../../../../src/events/views.ts'
import type { RunStore } from '../../../../src/runs/run-store.ts'
import { createRedisEventStore } from '../../../../src/storage/redis/event-store.ts'
import { openRedis } from '../../../../src/storage/redis/redis.ts'
import { createEventWire } from '../../../../src/storage/sql/events/wire.ts'
import { createSqlEventStore } from '../../../../src/storage/sql/events/event-store.ts'
import { openRunDatabase } from '../../../../src/storage/sql/driver/open-run-database.ts'
import { openPostgres } from '../../../../src/storage/sql/driver/postgres.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import { postgresDatabases } from '../../stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../stores/sql/postgres.ts'
import { type RedisServer, startRedis, withoutRedis } from '../../stores/redis.ts'
import { inLong } from '../../length.ts'
import { systemClock } from '../../../../src/base/clock.ts'

export interface LogProcess {
  log: OpenEventLog
  store: EventStore
  /** The run store; undefined if leases are not checked. */
  runs: RunStore | undefined
}

/** Event logs of one kind for one test; all are closed after it. */
export interface LogEngine {
  readonly name: string
  /** True if a log outlives its process and several processes can share it. */
  readonly shared: boolean
  readonly durable: boolean
  /** An empty log. */
  open(options?: { clock?: Clock; bounds?: EventBounds }): Promise<LogProcess>
  /** Opens the newest log again, as another process does, or the same process after a restart. */
  openAgain(options?: { clock?: Clock; bounds?: EventBounds }): Promise<LogProcess>
  /** Breaks the connections over which processes notify each other of events. */
  deafen(): Promise<unknown>
}

type Opened = Omit<LogProcess, 'log'> & { close(): Promise<unknown> }
type Options = { clock: Clock; bounds: EventBounds }

const CLOCK: Clock = systemClock
const BOUNDS: EventBounds = { events: 20_000, chars: 64 << 20, age_ms: 3_600_000, total_chars: 1e12 }
const LOGGER = createLogger({ level: 'silent' })

/** Makes an engine. `fresh` creates a place for a log, and returns a function that opens the log in that place. */
function engine(
  facts: Pick<LogEngine, 'name' | 'shared' | 'durable'> & Partial<Pick<LogEngine, 'deafen'>>,
  fresh: () => Promise<(options: Options) => Promise<Opened>>,
): LogEngine {
  const opened: { log: OpenEventLog; close(): Promise<unknown> }[] = []
  let openHere: ((options: Options) => Promise<Opened>) | undefined
  afterEach(async () => {
    for (const { log, close } of opened.splice(0)) {
      await log.close()
      await close()
    }
  })
  const openAgain: LogEngine['openAgain'] = async ({ clock = CLOCK, bounds = BOUNDS } = {}) => {
    openHere ??= await fresh()
    const { store, runs, close } = await openHere({ clock, bounds })
    const log = createEventLog({ store, logger: LOGGER, metrics: createMetrics() })
    opened.push({ log, close })
    return { log, store, runs }
  }
  return {
    deafen: async () => undefined,
    ...facts,
    async open(options) {
      openHere = await fresh()
      return await openAgain(options)
    },
    openAgain,
  }
}

function memoryEngine(): LogEngine {
  return engine({ name: 'memory', shared: false, durable: false }, async () => async (options) => ({
    store: createMemoryEventStore(options.clock, options.bounds),
    runs: undefined,
    close: async () => undefined,
  }))
}

function sqliteEngine(): LogEngine {
  const dirs: string[] = []
  afterAll(async () => await Promise.all(dirs.map((dir) => rm(dir, { recursive: true }))))
  return engine({ name: 'SQLite', shared: false, durable: true }, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'weir-events-'))
    dirs.push(dir)
    return async ({ clock, bounds }) => {
      const database = await openRunDatabase({ url: undefined, file: join(dir, 'runs.db') })
      const store = createSqlEventStore({ database, clock, bounds })
      return { store, runs: createRunStore(database, clock), close: () => database.close() }
    }
  })
}

function postgresEngine(): LogEngine {
  const databases = postgresDatabases()
  let url = ''
  const deafen = async (): Promise<void> => {
    const database = openPostgres(url)
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'weir-events' AND datname = current_database()`,
    )
    await database.close()
  }
  return engine({ name: 'Postgres', shared: true, durable: true, deafen }, async () => {
    url = await databases.take()
    const mine = url
    onTestFinished(() => databases.giveBack(mine))
    return async ({ clock, bounds }) => {
      const database = await openRunDatabase({ url, file: '' })
      const wire = createEventWire({ url, logger: LOGGER })
      const store = createSqlEventStore({ database, clock, bounds, wire })
      return { store, runs: createRunStore(database, clock), close: () => database.close() }
    }
  })
}

function redisEngine(): LogEngine {
  let server: Promise<RedisServer> | undefined
  afterAll(async () => await (await server)?.stop())
  const deafen = async (): Promise<void> => {
    const redis = openRedis((await (await server)?.url(false)) ?? '', LOGGER)
    await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await redis.close()
  }
  return engine({ name: 'Redis', shared: true, durable: true, deafen }, async () => {
    server ??= startRedis()
    const url = await (await server).url()
    return async ({ clock, bounds }) => {
      const redis = openRedis(url, LOGGER)
      const store = createRedisEventStore({
        redis,
        clock,
        bounds,
        endsRun: ({ event }) => event === RUN_DONE,
      })
      return { store, runs: undefined, close: async () => undefined }
    }
  })
}

/**
 * Registers the tests of `body` for every kind of event log; `redis: false` leaves out Redis. Postgres and Redis run
 * only in `npm run test:long`. Kinds that are not installed are skipped.
 */
export function describeEventLogs(
  title: string,
  body: (engine: LogEngine) => void,
  { redis = true }: { redis?: boolean } = {},
): void {
  describe(`${title} in memory`, () => body(memoryEngine()))
  describe(`${title} on SQLite`, () => body(sqliteEngine()))
  inLong(() => {
    const noPostgres = withoutPostgres()
    describe.skipIf(noPostgres !== '')(`${title} on Postgres${noPostgres}`, () => body(postgresEngine()))
    if (!redis) return
    const noRedis = withoutRedis()
    describe.skipIf(noRedis !== '')(`${title} on Redis${noRedis}`, () => body(redisEngine()))
  })
}
