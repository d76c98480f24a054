import type { EventLog, RunLease, ThreadRef } from '../../events/event-log.ts'
import type { StreamItem } from './graph-host.ts'

/** Writes the stream of one attempt of a run to the thread's log, in order. */
export interface RunTape {
  write(items: readonly StreamItem[]): void
  /** Resolves when everything written is in the log, or the lease is lost. */
  flushed(): Promise<void>
  /** The attempt has sent its `metadata`. */
  readonly opened: boolean
  /**
   * The `error` that the host sent at the end. It is not written yet, since a run that is tried again has not failed.
   */
  readonly error: StreamItem | undefined
}

/**
 * Opens the tape of a lease. `onBroken` is called once: when the log refuses the lease, or did not store some events.
 * Nothing more is written then.
 */
export function createRunTape(
  events: EventLog,
  lease: ThreadRef & RunLease,
  onBroken: (why: 'lost' | 'unlogged') => void,
): RunTape {
  const { run_id } = lease
  let waiting: StreamItem[] = []
  let writing: Promise<void> | undefined
  let opened = false
  let held: StreamItem | undefined
  let isBroken = false

  function breakOff(why: 'lost' | 'unlogged'): void {
    if (!isBroken) onBroken(why)
    isBroken = true
  }

  /** Items that arrive during an append are part of the next one. */
  async function pump(): Promise<void> {
    while (waiting.length > 0 && !isBroken) {
      const items = waiting.map(({ event, data }) => ({ event, data, run_id }))
      waiting = []
      const ids = await events.append(lease, items, lease)
      if (ids === 'lost') breakOff('lost')
    }
    writing = undefined
  }

  function push(items: readonly StreamItem[]): void {
    if (isBroken) return
    waiting.push(...items)
    if (waiting.length > 0) writing ??= pump().catch(() => breakOff('unlogged'))
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
