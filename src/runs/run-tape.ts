import type { EventLog, RunLease, ThreadRef } from '../events/event-log.ts'
import type { StreamItem } from './graph-host.ts'

/** What one attempt of a run streams, on its way into the thread's log, in order. */
export interface RunTape {
  write(items: readonly StreamItem[]): void
  /** Resolves when all that was written is in the log, or the lease is lost. */
  flushed(): Promise<void>
  /** The attempt has told its `metadata`. */
  readonly opened: boolean
  /** The `error` that the host told at the end, held back: a run that is tried again has not failed. */
  readonly error: StreamItem | undefined
}

/**
 * Opens the tape of a lease. `torn` is called once: when the log refuses the lease, or has not kept what the run streamed.
 * Nothing more is written then.
 */
export function createRunTape(
  events: EventLog,
  lease: ThreadRef & RunLease,
  torn: (why: 'lost' | 'unlogged') => void,
): RunTape {
  const { run_id } = lease
  let waiting: StreamItem[] = []
  let writing: Promise<void> | undefined
  let opened = false
  let held: StreamItem | undefined
  let isTorn = false

  function tear(why: 'lost' | 'unlogged'): void {
    if (!isTorn) torn(why)
    isTorn = true
  }

  /** What comes while an append is under way goes into the next one. */
  async function pump(): Promise<void> {
    while (waiting.length > 0 && !isTorn) {
      const items = waiting.map(({ event, data }) => ({ event, data, run_id }))
      waiting = []
      const ids = await events.append(lease, items, lease)
      if (ids === 'lost') tear('lost')
    }
    writing = undefined
  }

  function push(items: readonly StreamItem[]): void {
    if (isTorn) return
    waiting.push(...items)
    if (waiting.length > 0) writing ??= pump().catch(() => tear('unlogged'))
  }

  return {
    get opened() {
      return opened
    },
    get error() {
      return held
    },
    write(items) {
      if (items.length === 0) return
      opened ||= items[0]?.event === 'metadata'
      const last = items.at(-1)
      if (last?.event === 'error') {
        held = last
        push(items.slice(0, -1))
      } else push(items)
    },
    async flushed() {
      await writing
    },
  }
}
