import type { JsonObject } from '../schema/json.ts'
import type { UnavailableGraphs } from './assistant-json.ts'
import type { AssistantSearch } from './assistant-store.ts'
import type { CronSearch } from './cron-store.ts'
import type { ExtractPaths } from './extract-paths.ts'
import type { ItemSearch, NamespaceQuery } from './kv-store.ts'
import type { RunStatus } from './model.ts'
import type { ThreadSearch } from './run-store.ts'
import type { Call } from './runs.ts'

/** A page of runs of a thread or of versions of an assistant. */
interface Page {
  limit: number
  offset: number
}

/** Which list to read, as plain data: it may be read in another thread. `select` empty: all fields. */
export type ListRequest =
  | {
      list: 'threads'
      search: Omit<ThreadSearch, 'visible'>
      select: readonly string[]
      extract: ExtractPaths
    }
  | {
      list: 'runs'
      thread_id: string
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
  /** `now` is shown with each cron. */
  | { list: 'crons'; search: Omit<CronSearch, 'visible'>; select: readonly string[]; now: string | null }
  | { list: 'items'; search: Omit<ItemSearch, 'visible'> }
  | { list: 'namespaces'; query: Omit<NamespaceQuery, 'visible'> }

/** A page of a list, ready to be sent. */
export interface ListPage {
  /** JSON: an array, or of items and namespaces the object that the API answers. */
  body: Uint8Array
  /** Records on the page: fewer than `limit` when more would have been too large for one answer. */
  shown: number
  /** All that match; null where that is not counted. */
  total: number | null
  /** Others follow behind the page. */
  more: boolean
  /** To be called once, when the page has been sent or nobody takes it. */
  sent(): void
}

/** A handler's filter for what a caller may see (`access/rulings.ts`); null for all. */
export type AccessFilter = JsonObject | null

/**
 * Lists of a deployment. A page has at most `limit` records and 32 MB, unless its first record alone is larger. Lists that
 * take long wait for each other, with a share for each caller, and are given up when the caller leaves.
 */
export interface Lists {
  /**
   * @throws AppError not_found for runs of no thread and versions of no assistant, rate_limited when the caller has too
   * many lists waiting, worker_timeout when reading takes too long
   */
  read(call: Call, request: ListRequest, gone: AbortSignal, access?: AccessFilter): Promise<ListPage>
}

/** How many records match. @throws AppError as `Lists.read` */
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
