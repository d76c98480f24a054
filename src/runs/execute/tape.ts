import type { EventDraft, EventLog, RunLease, ThreadRef } from '../../events/event-log.ts'
import type { Run } from '../model.ts'
import { isInterrupted } from '../state.ts'
import { stateEvent } from '../streams/state-event.ts'
import { pendingInterrupts } from '../streams-v2/interrupts.ts'
import { type AttemptBegin, runBegun, runStopped } from '../streams-v2/run-entries.ts'
import { type EndedStatus, runDone } from './end-event.ts'
import type { GraphEnd, StreamItem } from './graph-host.ts'

/** Writes the stream of one attempt of a run to the thread's log, in order. */
export interface RunTape {
  write(items: readonly StreamItem[]): void
  /** Resolves when everything written is in the log, or the lease is lost. */
  flushed(): Promise<void>
  /** Whether the attempt has sent its first item, `metadata`. */
  readonly opened: boolean
  /**
   * The `error` that the host sent at the end. It is not written yet, since a run that is tried again has not failed.
   */
  readonly error: StreamItem | undefined
}

/**
 * Opens the tape of a lease. `onBroken` is called once, when the log refuses the lease (`lost`) or cannot store some
 * events (`unlogged`); after that nothing is written.
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

/** The results of an attempt: the end of its graph, its stream, and the facts about its start. */
export interface AttemptOutcome {
  end: GraphEnd
  tape: RunTape
  begin: AttemptBegin
}

/** The events that end a run in its thread's log: its failure, its end, and the thread's new state. */
export function closingEvents(
  { run_id, graph_id, thread_id, attempt, status, error }: Omit<Run, 'status'> & { status: EndedStatus },
  { end, tape, begin }: AttemptOutcome,
): EventDraft[] {
  const items: StreamItem[] = []
  // If the graph sent nothing and has no state, it did not receive the answers, so its interrupts are still open.
  const answered = tape.opened || end.state !== undefined ? begin.answered : []
  if (!tape.opened) {
    const metadata = { event: 'metadata', data: JSON.stringify({ run_id, attempt }) }
    items.push(metadata, runBegun({ graph_id, attempt }, { ...begin, answered }))
  }
  const waiting = pendingInterrupts(end.state?.interrupts ?? {})
  // Clients no longer show the interrupts that the run answered. Those that wait for an answer again are sent again.
  const again = status === 'deleted' ? [] : waiting.filter(({ id }) => answered.includes(id))
  if (isInterrupted(status, end.state?.next)) items.push(runStopped(waiting))
  else if (again.length > 0) items.push(runStopped(again))
  if (error !== null) items.push(tape.error ?? { event: 'error', data: JSON.stringify(error) })
  items.push(runDone(run_id, status))
  if (end.state !== undefined && status !== 'deleted') items.push(stateEvent(thread_id, end.state))
  return items.map((item) => ({ ...item, run_id }))
}
