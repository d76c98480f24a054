import type { Stamp } from './id.ts'
import type { ThreadRef } from './event-log.ts'
import type { EventStore, Page } from './event-store.ts'

/** Pages of event logs, each read once for all readers that need it at the same time. */
export interface SharedPages {
  /** Returns a page, which may be a second old. */
  page(thread: ThreadRef, after: Stamp): Promise<Page | undefined>
  /** Drops the pages of a thread whose log was deleted. */
  forget(thread: ThreadRef): void
}

interface Kept {
  page: Promise<Page | undefined>
  thread: ThreadRef
  chars: number
}

/** Maximum characters of kept events; a single larger page is kept too. */
const MAX_CHARS = 16 << 20
/** Time for which a page is kept for other readers. */
const KEPT_MS = 1000

/**
 * Creates shared pages: slow readers of the same thread read the same pages, so each page is read once and its strings
 * are shared. The last page of a log is not kept, since events may follow.
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
