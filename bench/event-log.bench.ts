import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger } from '../src/base/log.ts'
import { createMetrics } from '../src/base/metrics.ts'
import { createEventLog, type OpenEventLog } from '../src/events/create-event-log.ts'
import type { EventBounds, EventStore } from '../src/events/event-store.ts'
import type { EventDraft, ThreadRef } from '../src/events/event-log.ts'
import { createMemoryEventStore } from '../test/support/runs/streams/memory-event-store.ts'
import { createRedisEventStore } from '../src/storage/redis/event-store.ts'
import { openRedis } from '../src/storage/redis/redis.ts'
import { createEventWire } from '../src/storage/sql/events/wire.ts'
import { createSqlEventStore } from '../src/storage/sql/events/event-store.ts'
import { openRunDatabase } from '../src/storage/sql/driver/open-run-database.ts'
import { withoutPostgres, startPostgres } from '../test/support/stores/sql/postgres.ts'
import { withoutRedis, startRedis } from '../test/support/stores/redis.ts'
import { systemClock } from '../src/base/clock.ts'

// Appends events to the log, and delivers them to one reader of each thread. An event has a thousand characters, like
// one with a token:
//   node scripts/launch.mjs bench/event-log.bench.ts [events] [memory|sqlite|sqlite-full|postgres|redis]
const TOKEN = JSON.stringify({ content: 'token', metadata: 'm'.repeat(960) })
const BOUNDS: EventBounds = { events: 50_000, chars: 64 << 20, age_ms: 86_400_000, total_chars: 1e12 }
const THREADS = 8
const clock = systemClock
const logger = createLogger({ level: 'silent' })

interface Opened {
  store: EventStore
  close(): Promise<unknown>
}

async function openSqlite(synchronous: 'normal' | 'full'): Promise<Opened> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const database = await openRunDatabase({ url: undefined, file: join(dir, 'runs.db'), synchronous })
  const close = async (): Promise<void> => {
    await database.close()
    await rm(dir, { recursive: true })
  }
  return { store: createSqlEventStore({ database, clock, bounds: BOUNDS }), close }
}

async function openPostgres(): Promise<Opened> {
  const cluster = await startPostgres()
  const url = await cluster.createDatabase()
  const database = await openRunDatabase({ url, file: '' })
  const wire = createEventWire({ url, logger })
  const close = async (): Promise<void> => {
    await database.close()
    await cluster.stop()
  }
  return { store: createSqlEventStore({ database, clock, bounds: BOUNDS, wire }), close }
}

async function openOwnRedis(): Promise<Opened> {
  const server = await startRedis()
  const redis = openRedis(await server.url(), logger)
  const endsRun = (): boolean => false
  return {
    store: createRedisEventStore({ redis, clock, bounds: BOUNDS, endsRun }),
    close: () => server.stop(),
  }
}

const ENGINES: Record<string, (() => Promise<Opened>) | undefined> = {
  memory: async () => ({ store: createMemoryEventStore(clock, BOUNDS), close: async () => undefined }),
  sqlite: () => openSqlite('normal'),
  'sqlite-full': () => openSqlite('full'),
  postgres: withoutPostgres() === '' ? openPostgres : undefined,
  redis: withoutRedis() === '' ? openOwnRedis : undefined,
}

function newThread(): ThreadRef {
  return { workspace_id: 'w', deployment_id: 'd', thread_id: crypto.randomUUID() }
}

function draft(data: string): EventDraft {
  return { run_id: '01a1f831-0000-7000-8000-000000000000', event: 'messages', data }
}

function quantile(values: number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] ?? 0
}

/**
 * Appends to all threads as fast as possible, `batch` events per append. Returns the events per second until the
 * readers have received all of them.
 */
async function throughput(log: OpenEventLog, events: number, batch: number): Promise<number> {
  const end = new AbortController()
  const each = events / THREADS
  const started = performance.now()
  await Promise.all(
    Array.from({ length: THREADS }, async () => {
      const thread = newThread()
      const reading = (async () => {
        let count = 0
        for await (const items of log.read(thread, 'start', end.signal)) {
          count += items.length
          if (count >= each) return
        }
      })()
      const items = Array.from({ length: batch }, () => draft(TOKEN))
      for (let sent = 0; sent < each; sent += batch) await log.append(thread, items, null)
      await reading
    }),
  )
  end.abort()
  return (events / (performance.now() - started)) * 1000
}

/** Milliseconds from append to delivery at `rate` events a second, one event per append. */
async function latency(log: OpenEventLog, rate: number, seconds: number): Promise<number[]> {
  const end = new AbortController()
  const found: number[] = []
  const threads = Array.from({ length: THREADS }, newThread)
  const total = rate * seconds
  const { promise: all, resolve } = Promise.withResolvers<void>()
  for (const thread of threads) {
    void (async () => {
      for await (const items of log.read(thread, 'start', end.signal)) {
        const now = performance.now()
        for (const item of items) if ('data' in item) found.push(now - Number.parseFloat(item.data))
        if (found.length >= total) resolve()
      }
    })()
  }
  const started = performance.now()
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * rate))
    for (; sent < due; sent++) {
      const thread = threads[sent % THREADS]
      if (thread) void log.append(thread, [draft(`${performance.now()} ${TOKEN}`)], null)
    }
    await delay(1)
  }
  await all
  end.abort()
  return found
}

const events = Number(process.argv[2] ?? 40_000)
const only = process.argv[3]
for (const [name, open] of Object.entries(ENGINES)) {
  if (open === undefined || (only !== undefined && only !== name)) continue
  const { store, close } = await open()
  const log = createEventLog({ store, logger, metrics: createMetrics() })
  await throughput(log, 4000, 10)
  for (const batch of [1, 10, 100]) {
    const cpu = process.cpuUsage()
    const rate = await throughput(log, batch === 1 ? events / 4 : events, batch)
    const { user, system } = process.cpuUsage(cpu)
    const each = (user + system) / (batch === 1 ? events / 4 : events)
    console.log(
      `${name.padEnd(12)} ${THREADS} threads, ${String(batch).padStart(3)} to an append: ${rate.toFixed(0).padStart(7)} events/s, ${each.toFixed(1)} µs CPU each`,
    )
  }
  const times = await latency(log, 2000, 5)
  const [p50, p99, max] = [0.5, 0.99, 0.9999].map((q) => quantile(times, q).toFixed(2))
  console.log(`${name.padEnd(12)} append to delivery at 2,000 events/s: p50 ${p50} p99 ${p99} max ${max} ms`)
  await log.close()
  await close()
}
