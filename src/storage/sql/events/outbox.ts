import { within } from '../../../base/background/within.ts'
import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Logger } from '../../../base/log.ts'
import { retry } from '../../../base/retry.ts'
import type { EventDraft, ThreadRef } from '../../../events/event-log.ts'
import type { Database } from '../driver/database.ts'
import { inList, keyValues } from '../runs/rows.ts'
import type { RunEvents } from './run-events.ts'

export interface EventOutboxParts {
  database: Database
  clock: Clock
  logger: Logger
  /** Appends to the log. Further calls with the same id have no effect. */
  deliver(id: string, thread: ThreadRef, items: readonly EventDraft[]): Promise<void>
  retire(thread: ThreadRef): Promise<void>
}

/** Delivers the end events of runs to a log that is not in the database of runs. */
export interface EventOutbox extends RunEvents {
  /** Delivers the newest end events again. Called when the log may have lost its last appends. */
  repeat(): void
  /** Resolves when no delivery is running. */
  close(): Promise<void>
}

interface Delivery {
  id: string
  thread: ThreadRef
  items: readonly EventDraft[]
}

interface OutboxRow extends ThreadRef {
  outbox_id: string
  items: string
}

const RETRY_MS = 250
/** Events that another process has stored and not delivered within this time are delivered by this process. */
const OTHERS_MS = 10_000
const AT_ONCE = 200
/**
 * Deliveries within this time before the newest one are repeated. It is longer than the delay of a replica and the time
 * until a log is synced.
 */
const REPEATED_MS = 30_000
/**
 * Deliveries older than this are not repeated. The log stores the ids of deliveries for one day, so it still has the
 * ids of all that are repeated.
 */
const MAX_OUTAGE_MS = 3_600_000
const MAX_REPEATED_CHARS = 16 << 20

type Sending = Pick<EventOutboxParts, 'database' | 'deliver'>

/** Delivers the events of different threads at the same time, and the events of one thread in order. */
async function deliverAll({ deliver }: Sending, deliveries: readonly Delivery[]): Promise<void> {
  const threads = Map.groupBy(deliveries, ({ thread }) => keyValues(thread).join(' '))
  const sent = [...threads.values()].map(async (some) => {
    for (const { id, thread, items } of some) await deliver(id, thread, items)
  })
  await Promise.all(sent)
}

/** Calls `work` with portions of the list. Each portion is removed from the list after its `work` has resolved. */
async function inPortions(
  list: Delivery[],
  work: (some: readonly Delivery[]) => Promise<void>,
): Promise<void> {
  while (list.length > 0) {
    const some = list.slice(0, AT_ONCE)
    await work(some)
    list.splice(0, some.length)
  }
}

async function send(sending: Sending, deliveries: readonly Delivery[]): Promise<void> {
  await deliverAll(sending, deliveries)
  const { places, values } = inList(deliveries.map(({ id }) => id))
  await sending.database.query(`DELETE FROM event_outbox WHERE outbox_id IN ${places}`, values)
}

/**
 * Delivers the events in the outbox, except those of the last `ms`, which their process may be delivering. Times after
 * `now` are of a clock that was ahead.
 */
async function sendLeftBehind(sending: Sending, now: number, ms: number): Promise<void> {
  const rows = await sending.database.query<OutboxRow>(
    `SELECT outbox_id, thread_id, deployment_id, workspace_id, items FROM event_outbox WHERE created_at <= ? OR created_at > ?
      ORDER BY created_at, outbox_id LIMIT ${AT_ONCE}`,
    [now - ms, now + ms],
  )
  const found = rows.map(({ outbox_id: id, items, ...thread }) => {
    return { id, thread, items: JSON.parse(items) as EventDraft[] }
  })
  if (found.length > 0) await send(sending, found)
  if (found.length === AT_ONCE) await sendLeftBehind(sending, now, ms)
}

/**
 * The deliveries of this process that the log may lose in an outage: those within 30 s before the newest one, with at
 * most 16 Mi characters.
 */
function createLatest(clock: Clock): { add(deliveries: readonly Delivery[]): void; all(): Delivery[] } {
  const latest: { at: number; chars: number; delivery: Delivery }[] = []
  let chars = 0
  const prune = (since: number): void => {
    const kept = latest.findIndex((one) => {
      const isKept = one.at >= since && chars <= MAX_REPEATED_CHARS
      if (!isKept) chars -= one.chars
      return isKept
    })
    latest.splice(0, kept < 0 ? latest.length : kept)
  }
  return {
    add(deliveries) {
      for (const delivery of deliveries) {
        const size = delivery.items.reduce((sum, { data }) => sum + data.length, 0)
        latest.push({ at: clock.now(), chars: size, delivery })
        chars += size
      }
      prune(clock.now() - REPEATED_MS)
    },
    all() {
      prune(clock.now() - MAX_OUTAGE_MS)
      return latest.map(({ delivery }) => delivery)
    },
  }
}

/**
 * Stores events in the same transaction as the change of runs that they report, and delivers them afterwards. If the
 * process ends in between, its next start or another process delivers them.
 */
export function openEventOutbox(parts: EventOutboxParts): EventOutbox {
  const { clock, logger, retire } = parts
  const closing = new AbortController()
  let last: Promise<void> = Promise.resolve()
  /** Deliveries of this process that are not done yet, in order. */
  const waiting: Delivery[] = []
  const latest = createLatest(clock)
  let written = 0

  /** Runs pieces of work one after the other, so that the events of a thread keep their order. */
  function enqueue(work: () => Promise<void>): void {
    const onRetry = (error: unknown): void =>
      logger.warn({ err: error }, 'the end of a run waits for the log of events')
    last = last.then(() => retry(work, { pauses: [RETRY_MS], signal: closing.signal, onRetry }))
  }

  const sendWaiting = (): Promise<void> =>
    inPortions(waiting, async (some) => {
      await send(parts, some)
      latest.add(some)
    })

  enqueue(() => sendLeftBehind(parts, clock.now(), 0))
  const timer = setInterval(
    () => enqueue(() => sendLeftBehind(parts, clock.now(), OTHERS_MS)),
    OTHERS_MS,
  ).unref()

  return {
    async write(session, thread, items) {
      // The id sorts after earlier ids of this process. It is needed because two ends of a thread may have the same
      // millisecond.
      const id = `${String(written++).padStart(12, '0')}-${newUuid()}`
      const { thread_id, deployment_id, workspace_id } = thread
      session.send(
        `INSERT INTO event_outbox (outbox_id, thread_id, deployment_id, workspace_id, created_at, items)
          VALUES (?, ?, ?, ?, ?, ?)`,
        [id, thread_id, deployment_id, workspace_id, clock.now(), JSON.stringify(items)],
      )
      return () => {
        waiting.push({ id, thread: { thread_id, deployment_id, workspace_id }, items })
        enqueue(sendWaiting)
      }
    },
    async retire(_session, thread) {
      return () => enqueue(() => retire(thread))
    },
    repeat() {
      const again = latest.all()
      enqueue(() => inPortions(again, (some) => deliverAll(parts, some)))
    },
    async close() {
      clearInterval(timer)
      await within(last, OTHERS_MS, () => undefined)
      closing.abort()
    },
  }
}
