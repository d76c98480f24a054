import { childEntry } from '../../base/child-entry.ts'
import type { Config } from '../../config.ts'
import { createFairQueue, type FairQueue } from '../../base/fair-queue.ts'
import type { Logger } from '../../base/log.ts'
import { connectionShares } from '../../storage/sql/driver/postgres/connection-budget.ts'
import { createWorkerPool, type WorkerPool } from '../../worker-threads/worker-pool.ts'
import type { KvStore } from '../../runs/items/kv-store.ts'
import type { AccessFilter, ListPage, ListRequest, Lists } from '../../runs/lists/lists.ts'
import type { Caller, Tenant } from '../../runs/model.ts'
import type { ListText } from '../../runs/lists/read-list.ts'
import type { Allowance } from '../../storage/sql/driver/metered-database.ts'
import type { SqlPlace } from '../../storage/sql/driver/open.ts'

export interface ListsStart {
  config: Pick<Config, 'databaseConnections'>
  /** Location of the run database. */
  place: SqlPlace
  logger: Logger
  stops: AsyncDisposableStack
}

/** `workerData` of a thread that reads lists. */
export interface ListThreadData {
  place: SqlPlace
  niceness: number
}

/** One list to read, and the resources that it may use. */
export interface ListTask {
  tenant: Tenant
  request: ListRequest
  access: AccessFilter
  /** Limits of the list; a list that exceeds them gets null as the answer. Null: no limit. */
  allowance: Allowance | null
}

/** The long-term memory of one deployment. */
export interface ListedItems {
  items: Pick<KvStore, 'refresh' | 'vectorOf'>
  /** Default of a request's `refresh_ttl`: reading an item extends its time to live. */
  refresh_on_read: boolean
}

/** The lists of one deployment, in threads that all of them share. */
export type ListsOf = (items: ListedItems) => Lists

type Page = Omit<ListText, 'body'> & { body: Uint8Array }

/**
 * Limits of short lists, most of which take a millisecond. A list that exceeds them is read again from the start in a
 * thread of long lists.
 */
const LIGHT = { cpu_ms: 25, wall_ms: 1000, bytes: 1 << 20 }
/** Limits of long lists, each of which keeps a page of up to 32 MB until it has been sent. */
const LONG = { at_once: 8, at_once_per_key: 2, waiting_per_key: 64 }
const LONG_TIMEOUT_MS = 30_000
/**
 * Number of tasks queued inside the thread, because fetching the next task from the main thread takes longer than most
 * lists.
 */
const LIGHT_DEPTH = 8
/** Numbers of threads for a SQLite file; with a remote database, a thread spends most of its time waiting. */
const LOCAL = { lists: 1, longLists: 2 }
/** Long lists have the lowest priority. */
const LONG_NICENESS = 10
const IDLE_LONG_MS = 20_000
/** Heap limit of a thread in MB. A page that needs more ends its thread, but not the process. */
const LONG_HEAP_MB = 1024

/**
 * Reads lists in worker threads with separate connections, so that other requests do not wait for them. Long lists have
 * separate threads and a queue.
 */
export function startLists({ config, place, logger, stops }: ListsStart): ListsOf {
  const lane = (name: string, size: number, niceness: number): WorkerPool => {
    const pool = createWorkerPool({
      entry: childEntry('list-thread'),
      name,
      size,
      workerData: { place, niceness } satisfies ListThreadData,
      resourceLimits: { maxOldGenerationSizeMb: LONG_HEAP_MB },
      logger,
      taskTimeoutMs: LONG_TIMEOUT_MS,
      ...(niceness > 0 ? { depth: 1, idleMs: IDLE_LONG_MS } : { depth: LIGHT_DEPTH }),
    })
    stops.defer(() => pool.close())
    return pool
  }
  const { lists, longLists } = place.url === undefined ? LOCAL : connectionShares(config.databaseConnections)
  const light = lane('lists', lists, 0)
  const long = lane('long-lists', longLists, LONG_NICENESS)
  const queue = createFairQueue(LONG)
  const read = async (task: Omit<ListTask, 'allowance'>, caller: Caller, gone: AbortSignal) => {
    const page = await run(light, { ...task, allowance: LIGHT }, gone)
    return page === null
      ? await readLong({ long, queue }, task, caller, gone)
      : { page, sent: () => undefined }
  }

  return ({ items, refresh_on_read }) => ({
    async read({ tenant, caller }, asked, gone, access = null) {
      const request = await withVector(asked, items)
      const { page, sent } = await read({ tenant, request, access }, caller, gone)
      if (request.list === 'items' && (request.search.refresh_ttl ?? refresh_on_read))
        await refreshRead(items, tenant, page)
      const { body, shown, total, more } = page
      return { body, shown, total, more, sent }
    },
  })
}

async function refreshRead(
  items: Pick<KvStore, 'refresh'>,
  tenant: Tenant,
  { expiring }: Page,
): Promise<void> {
  if (expiring.length > 0) await items.refresh(tenant, expiring)
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
    if (page === null) throw new TypeError('a list without limits was reported as too long')
    return { page, sent: leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** The key of a caller in the queue, which is fair among API keys and users of the deployment's auth file. */
function keyOf({ api_key_id, user }: Caller): string {
  return JSON.stringify([api_key_id, user?.identity ?? null])
}

/** Adds the vector of the query, which a graph host computes, to a semantic search. */
async function withVector(request: ListRequest, items: Pick<KvStore, 'vectorOf'>): Promise<ListRequest> {
  if (request.list !== 'items') return request
  const vector = await items.vectorOf(request.search.query)
  return vector === undefined ? request : { ...request, search: { ...request.search, vector } }
}
