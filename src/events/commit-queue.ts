import { AppError } from '../base/errors.ts'
import type { EventDraft, RunLease, ThreadRef } from './event-log.ts'
import { type Append, CHUNK_CHARS, CHUNK_EVENTS, type EventChunk, type EventStore } from './event-store.ts'

/** Groups appends into few commits. Appends that arrive during a commit are part of the next one. */
export interface CommitQueue {
  /** Resolves with the chunks of `items`, in order, when all of them are durable; with null if the lease is lost. */
  add(
    thread: ThreadRef,
    items: readonly EventDraft[],
    lease: RunLease | null,
  ): Promise<readonly EventChunk[] | null>
  /** Resolves when everything added so far is committed or has failed. */
  settled(): Promise<void>
}

/** Maximum number of events in one commit. A commit of this size takes a few milliseconds. */
const COMMIT_EVENTS = 2000
const COMMIT_CHARS = 2 << 20

interface Entry extends Append {
  done(chunk: EventChunk | null): void
  failed(error: unknown): void
}

/** Splits `items` into chunks of limited length and size. */
function* chunksOf(items: readonly EventDraft[]): Generator<readonly EventDraft[]> {
  let from = 0
  let chars = 0
  for (const [index, { data }] of items.entries()) {
    if (index > from && (chars + data.length > CHUNK_CHARS || index - from === CHUNK_EVENTS)) {
      yield items.slice(from, index)
      from = index
      chars = 0
    }
    chars += data.length
  }
  if (from < items.length) yield from === 0 ? items : items.slice(from)
}

/** Removes from `waiting` the first appends that fit into one commit, and returns them. */
function takeSome(waiting: Entry[]): Entry[] {
  let count = 0
  let events = 0
  let chars = 0
  for (const { items } of waiting) {
    events += items.length
    for (const { data } of items) chars += data.length
    if (count > 0 && (events > COMMIT_EVENTS || chars > COMMIT_CHARS)) break
    count++
  }
  return waiting.splice(0, count)
}

function ignore(): void {
  // The callers of `add` receive the error.
}

/** `committed` is called for each commit before `add` resolves. */
export function createCommitQueue(
  store: Pick<EventStore, 'append'>,
  committed: (thread: ThreadRef, chunk: EventChunk) => void,
): CommitQueue {
  const waiting: Entry[] = []
  let flushing: Promise<void> | undefined
  let newest: Promise<void> = Promise.resolve()

  async function commit(entries: readonly Entry[]): Promise<void> {
    const chunks = await store.append(entries)
    for (const [index, { thread }] of entries.entries()) {
      const chunk = chunks[index]
      if (chunk) committed(thread, chunk)
    }
    for (const [index, { done }] of entries.entries()) done(chunks[index] ?? null)
  }

  /**
   * Commits each thread alone after a common commit has failed. So an error of one thread does not affect the others.
   */
  async function commitApart(entries: readonly Entry[]): Promise<void> {
    try {
      await commit(entries)
    } catch (error) {
      const isDown = error instanceof AppError && error.retryable
      if (isDown || entries.length === 1) for (const { failed } of entries) failed(error)
      else for (const entry of entries) await commitApart([entry])
    }
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      // Yields to the event loop: appends of the same turn join the commit, and sockets are served between commits.
      await new Promise((turn) => setImmediate(turn))
      await commitApart(takeSome(waiting))
    }
    flushing = undefined
  }

  return {
    async add(thread, items, lease) {
      const parts = [...chunksOf(items)].map(
        (part) =>
          new Promise<EventChunk | null>((done, failed) => {
            waiting.push({ thread, items: part, lease, done, failed })
          }),
      )
      if (parts.length > 0) flushing ??= flush()
      // Commits finish in order of arrival, so all earlier ones have finished too.
      newest = parts.at(-1)?.then(ignore, ignore) ?? newest
      const chunks = await Promise.all(parts)
      return chunks.some((chunk) => chunk === null) ? null : (chunks as EventChunk[])
    },
    settled: () => newest,
  }
}
