import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { createEventLog } from '../../../src/events/create-event-log.ts'
import { openRunDatabase } from '../../../src/storage/sql/driver/open-run-database.ts'
import { createSqlEventStore } from '../../../src/storage/sql/events/event-store.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { TENANT } from '../../support/runs/run-store.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Number of threads: a tenth of that in docs/operating/reliability.md. */
const THREADS = 1_000
const ROUNDS = 5
const EVENTS = 10
const TOTAL = 25 << 20
const GROWTH = 200 << 20

it('the logs of many threads stay within their limit, and start with little memory and time', async () => {
  const { dir, remove } = await temporaryDir()
  const logger = createLogger({ level: 'silent' })
  const bounds = { events: 20_000, chars: 64 << 20, age_ms: 3_600_000, total_chars: TOTAL }
  const open = async () => {
    const database = await openRunDatabase({ url: undefined, file: `${dir}/runs.db` })
    const store = createSqlEventStore({ database, clock: systemClock, bounds })
    return { database, store, log: createEventLog({ store, logger, metrics: createMetrics() }) }
  }
  const close = async ({ log, database }: Awaited<ReturnType<typeof open>>): Promise<void> => {
    await log.close()
    await database.close()
  }
  onTestFinished(remove)
  const threads = Array.from({ length: THREADS }, () => ({ ...TENANT, thread_id: randomUUID() }))
  const event = { run_id: null, event: 'values', data: `"${'x'.repeat(1_000)}"` }
  const events = Array.from({ length: EVENTS }, () => event)
  const first = await open()
  const before = process.memoryUsage().rss
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < THREADS; at += 50)
      await Promise.all(threads.slice(at, at + 50).map((thread) => first.log.append(thread, events, null)))
  }
  await first.store.trim(null)
  const [kept] = await first.database.query<{ chars: number }>('SELECT sum(chars) AS chars FROM event_chunks')
  expect(kept?.chars).toBeLessThanOrEqual(TOTAL)
  expect(kept?.chars).toBeGreaterThan(TOTAL / 2)
  expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH)
  await close(first)

  const next = await open()
  const last = threads.at(-1)
  if (last === undefined) throw new Error('there are no threads')
  for await (const batch of next.log.read(last, 'start', new AbortController().signal)) {
    expect(batch.length).toBeGreaterThan(0)
    break
  }
  await close(next)
})
