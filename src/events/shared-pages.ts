import type { Stamp } from './event-id.ts'
import type { ThreadRef } from './event-log.ts'
import type { EventStore, Page } from './event-store.ts'

/** Pages of logs as many readers ask for them at the same time. */
export interface SharedPages {
  /** As the store answers it, now or a moment ago. */
  page(thread: ThreadRef, after: Stamp): Promise<Page | undefined>
  /** The thread's log is gone: what is read from now on is of another. */
  forget(thread: ThreadRef): void
}

interface Kept {
  page: Promise<Page | undefined>
  thread: ThreadRef
  chars: number
}

/** Characters of events that are kept, unless a single page has more. */
const MAX_CHARS = 16 << 20
/** How long a page is kept for others that read the same part of the log. */
const KEPT_MS = 1000

/**
 * Readers that are behind in the same thread read the same pages: the store is asked once, and their texts are the same.
 * A page that ends at the end of its log is not kept, for there will be more.
 */
export function createSharedPages(store: Pick<EventStore, 'page'>): SharedPages {
  const kept = new Map<string, Kept>()
  let chars = 0

  function drop(key: string, one: Kept): void {
    if (kept.get(key) !== one) return
    kept.delete(key)
    chars -= one.chars
  }

  function settle(key: string, one: Kept, page: Page | undefined): void {
    if (page === undefined || isAtEnd(page)) return drop(key, one)
    if (kept.get(key) !== one) return
    one.chars = charsOf(page)
    chars += one.chars
    for (const [oldest, other] of kept) {
      if (chars <= MAX_CHARS || other === one) break
      drop(oldest, other)
    }
    setTimeout(() => drop(key, one), KEPT_MS).unref()
  }

  return {
    page(thread, after) {
      const key = [thread.workspace_id, thread.deployment_id, thread.thread_id, ...after].join(' ')
      const known = kept.get(key)
      if (known !== undefined) return known.page
      const one: Kept = { page: store.page(thread, after), thread, chars: 0 }
      kept.set(key, one)
      one.page.then(
        (page) => settle(key, one, page),
        () => drop(key, one),
      )
      return one.page
    },
    forget({ deployment_id, thread_id }) {
      for (const [key, one] of kept) {
        if (one.thread.thread_id === thread_id && one.thread.deployment_id === deployment_id) drop(key, one)
      }
    },
  }
}

function isAtEnd({ chunks, total }: Page): boolean {
  const last = chunks.at(-1)
  return last === undefined || last.position + last.items.length >= total
}

function charsOf({ chunks }: Page): number {
  let sum = 0
  for (const { items } of chunks) for (const { data } of items) sum += data.length
  return sum
}
