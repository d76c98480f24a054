import type { JsonObject } from '../../schema/json.ts'
import type { UnavailableGraphs } from '../assistants/json.ts'
import type { AssistantSearch } from '../assistants/store.ts'
import type { CronSearch } from '../crons/store.ts'
import type { ExtractPaths } from '../threads/extract-paths.ts'
import type { ItemSearch, NamespaceQuery } from '../items/kv-store.ts'
import type { RunStatus } from '../model.ts'
import type { ThreadSearch } from '../run-store.ts'
import type { Call } from '../runs.ts'

/** Page parameters of runs of a thread or versions of an assistant. */
interface Page {
  limit: number
  offset: number
}

/** The list to read, as plain data that can be sent to another thread. `select` empty: all fields. */
export type ListRequest =
  | {
      list: 'threads'
      search: Omit<ThreadSearch, 'visible'>
      select: readonly string[]
      extract: ExtractPaths
    }
  | {
      list: 'runs'
      /** Null: the runs of all threads. */
      thread_id: string | null
      page: Page & { status?: RunStatus }
      select: readonly string[]
    }
  | {
      list: 'assistants'
      search: Omit<AssistantSearch, 'visible'>
      select: readonly string[]
      unavailable: UnavailableGraphs
    }
  | {
      list: 'versions'
      assistant_id: string
      page: Page & { metadata?: JsonObject | undefined }
      unavailable: UnavailableGraphs
    }
  /** `now` is a field of each cron in the response. */
  | { list: 'crons'; search: Omit<CronSearch, 'visible'>; select: readonly string[]; now: string | null }
  | { list: 'items'; search: Omit<ItemSearch, 'visible'> }
  | { list: 'namespaces'; query: Omit<NamespaceQuery, 'visible'> }

/** A page of a list as bytes of the response. */
export interface ListPage {
  /** JSON: an array. For items and namespaces, an object that contains the array. */
  body: Uint8Array
  /** Number of records on the page; fewer than `limit` when more would be too large for one response. */
  shown: number
  /** Number of matching records; null when it was not counted. */
  total: number | null
  /** True when records follow the page. */
  more: boolean
  /** Releases the page. Must be called once, when the page was sent or its client has disconnected. */
  sent(): void
}

/** An auth handler's filter of visible records (`access/rulings.ts`); null for all. */
export type AccessFilter = JsonObject | null

/**
 * Lists of a deployment. A page has at most `limit` records and 32 MB; a larger first record is still returned. Slow lists
 * go through a queue that is fair between callers, and end when the caller disconnects.
 */
export interface Lists {
  /**
   * @throws AppError not_found for an unknown thread or assistant, rate_limited when the caller has too many lists waiting,
   * worker_timeout when reading takes too long
   */
  read(call: Call, request: ListRequest, gone: AbortSignal, access?: AccessFilter): Promise<ListPage>
}

/** Number of matching records. @throws AppError as `Lists.read` */
export async function countMatching(
  lists: Lists,
  call: Call,
  request: Extract<ListRequest, { list: 'threads' | 'assistants' | 'crons' }>,
  gone: AbortSignal,
): Promise<number> {
  const { total, sent } = await lists.read(call, request, gone)
  sent()
  return total ?? 0
}
