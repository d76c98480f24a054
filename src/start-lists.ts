import { createFairQueue, type FairQueue } from './base/fair-queue.ts'
import type { Logger } from './base/log.ts'
import { createWorkerPool, type WorkerPool, workerEntry } from './ingest/worker-pool.ts'
import type { ListTask, ListThreadData } from './list-thread.ts'
import type { KvStore } from './runs/kv-store.ts'
import type { ListPage, ListRequest, Lists } from './runs/lists.ts'
import type { Caller, Tenant } from './runs/model.ts'
import type { ListText } from './runs/read-list.ts'
import type { SqlPlace } from './storage/sql/open.ts'

export interface ListsStart {
  /** Of the run database. */
  place: SqlPlace
  items: Pick<KvStore, 'refresh' | 'vectorOf'>
  /** Whether reading an item puts off its end, where a request does not say. */
  refresh_on_read: boolean
  logger: Logger
  stops: (() => Promise<unknown> | void)[]
}

type Page = Omit<ListText, 'body'> & { body: Uint8Array }

/** Most lists take a millisecond; one that takes more than this is read again from its beginning by the slow threads. */
const LIGHT = { cpu_ms: 25, wall_ms: 1000, bytes: 1 << 20 }
/** Lists that take long: each place stands for a page of 32 MB, until it has been sent. */
const LONG = { at_once: 8, at_once_per_key: 2, waiting_per_key: 64 }
const LONG_TIMEOUT_MS = 30_000
/** Lists that wait inside the thread: asking the main thread for the next one takes longer than most of them. */
const LIGHT_DEPTH = 8
/** Long ones give way to everything else. */
const LONG_NICENESS = 10
const IDLE_LONG_MS = 20_000
/** A thread that needs more than this for one page ends, and not the process. */
const LONG_HEAP_MB = 1024

/**
 * Reads lists in threads with connections of their own, so that other requests do not wait for them. Lists that take long
 * have other threads than the rest, and wait for each other.
 */
export function startLists({ place, items, refresh_on_read, logger, stops }: ListsStart): Lists {
  const lane = (name: string, size: number, niceness: number): WorkerPool => {
    const pool = createWorkerPool({
      entry: workerEntry(import.meta.url, './list-thread'),
      name,
      size,
      workerData: { place, niceness } satisfies ListThreadData,
      resourceLimits: { maxOldGenerationSizeMb: LONG_HEAP_MB },
      logger,
      taskTimeoutMs: LONG_TIMEOUT_MS,
      ...(niceness > 0 ? { depth: 1, idleMs: IDLE_LONG_MS } : { depth: LIGHT_DEPTH }),
    })
    stops.push(() => pool.close())
    return pool
  }
  // Over a network a thread waits more than it works.
  const light = lane('lists', place.url === undefined ? 1 : 4, 0)
  const long = lane('long-lists', 2, LONG_NICENESS)
  const queue = createFairQueue(LONG)
  const read = async (task: Omit<ListTask, 'allowance'>, caller: Caller, gone: AbortSignal) => {
    const page = await run(light, { ...task, allowance: LIGHT }, gone)
    return page === null
      ? await readLong({ long, queue }, task, caller, gone)
      : { page, sent: () => undefined }
  }

  return {
    async read({ tenant, caller }, asked, gone, access = null) {
      const request = await withVector(asked, items)
      const { page, sent } = await read({ tenant, request, access }, caller, gone)
      await refreshRead(tenant, request, page)
      const { body, shown, total, more } = page
      return { body, shown, total, more, sent }
    },
  }

  async function refreshRead(tenant: Tenant, request: ListRequest, page: Page): Promise<void> {
    if (request.list !== 'items' || page.expiring.length === 0) return
    if (request.search.refresh_ttl ?? refresh_on_read) await items.refresh(tenant, page.expiring)
  }
}

function run(pool: WorkerPool, task: ListTask, gone: AbortSignal): Promise<Page | null> {
  return pool.run<Page | null>({ name: 'read', input: task }, gone)
}

async function readLong(
  { long, queue }: { long: WorkerPool; queue: FairQueue },
  task: Omit<ListTask, 'allowance'>,
  caller: Caller,
  gone: AbortSignal,
): Promise<{ page: Page; sent: ListPage['sent'] }> {
  const leave = await queue.enter(keyOf(caller), gone)
  try {
    const page = await run(long, { ...task, allowance: null }, gone)
    if (page === null) throw new TypeError('a list without an allowance has used it up')
    return { page, sent: leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** Whoever has a key, or is a user of the deployment's own auth file, has a share. */
function keyOf({ api_key_id, user }: Caller): string {
  return JSON.stringify([api_key_id, user?.identity ?? null])
}

/** A search by meaning with the vector of its query, which a graph host computes. */
async function withVector(request: ListRequest, items: Pick<KvStore, 'vectorOf'>): Promise<ListRequest> {
  if (request.list !== 'items') return request
  const vector = await items.vectorOf(request.search.query)
  return vector === undefined ? request : { ...request, search: { ...request.search, vector } }
}
