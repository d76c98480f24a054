import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { newUuid } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import type { EventDraft, ThreadRef } from '../../events/event-log.ts'
import type { Database } from './database.ts'
import type { RunEvents } from './run-events.ts'

export interface EventOutboxParts {
  database: Database
  clock: Clock
  logger: Logger
  /** Appends to the log, once for each id however often it is asked. */
  deliver(id: string, thread: ThreadRef, items: readonly EventDraft[]): Promise<void>
  retire(thread: ThreadRef): Promise<void>
}

/** The way of the ends of runs into a log that is not in their database. */
export interface EventOutbox extends RunEvents {
  /** Resolves when nothing is under way. */
  close(): Promise<void>
}

interface OutboxRow extends ThreadRef {
  outbox_id: string
  items: string
}

const RETRY_MS = 250
/** What another process has stored is taken over when it is so old. */
const OTHERS_MS = 10_000
const AT_ONCE = 200

/**
 * Stores events with the change of runs that they tell of, and delivers them after it; what a process leaves behind is
 * delivered by its next start, or by another process.
 */
export function openEventOutbox(parts: EventOutboxParts): EventOutbox {
  const { database, clock, logger, deliver, retire } = parts
  let closed = false
  let last: Promise<void> = Promise.resolve()

  /** One after the other, so that the events of a thread keep their order. */
  function enqueue(work: () => Promise<void>): void {
    last = last.then(async () => {
      while (!closed) {
        try {
          return await work()
        } catch (error) {
          logger.warn({ err: error }, 'the end of a run waits for the log of events')
          await delay(RETRY_MS)
        }
      }
    })
  }

  async function send(id: string, thread: ThreadRef, items: readonly EventDraft[]): Promise<void> {
    await deliver(id, thread, items)
    await database.query('DELETE FROM event_outbox WHERE outbox_id = ?', [id])
  }

  async function sendLeftBehind(before: number): Promise<void> {
    const rows = await database.query<OutboxRow>(
      `SELECT outbox_id, thread_id, deployment_id, workspace_id, items FROM event_outbox WHERE created_at <= ?
        ORDER BY created_at LIMIT ${AT_ONCE}`,
      [before],
    )
    for (const { outbox_id, items, ...thread } of rows)
      await send(outbox_id, thread, JSON.parse(items) as EventDraft[])
    if (rows.length === AT_ONCE) await sendLeftBehind(before)
  }

  enqueue(() => sendLeftBehind(clock.now()))
  const timer = setInterval(() => enqueue(() => sendLeftBehind(clock.now() - OTHERS_MS)), OTHERS_MS).unref()

  return {
    async write(session, thread, items) {
      const id = newUuid()
      const { thread_id, deployment_id, workspace_id } = thread
      await session.query(
        `INSERT INTO event_outbox (outbox_id, thread_id, deployment_id, workspace_id, created_at, items)
          VALUES (?, ?, ?, ?, ?, ?)`,
        [id, thread_id, deployment_id, workspace_id, clock.now(), JSON.stringify(items)],
      )
      return () => enqueue(() => send(id, { thread_id, deployment_id, workspace_id }, items))
    },
    async retire(_session, thread) {
      return () => enqueue(() => retire(thread))
    },
    async close() {
      clearInterval(timer)
      const sent = last
      await Promise.race([sent, delay(OTHERS_MS, undefined, { ref: false })])
      closed = true
    },
  }
}
