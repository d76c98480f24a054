import type { Tenant, Thread } from '../../runs/model.ts'
import type { ThreadSearch } from '../../runs/run-store.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { SqlValue } from './database.ts'
import { containsJson } from './json-contains.ts'
import { chunksOf, inList, SELECT_THREADS, type ThreadRow, toThread } from './run-store-rows.ts'
import type { RunDatabase } from './run-store-session.ts'

/** What a filter looks at, of one thread. */
interface Candidate {
  thread_id: string
  status: Thread['status']
  created_at: number
  updated_at: number
  state_updated_at: number
  /** Null when the text alone shows that the filter does not fit. */
  metadata: string | null
  state_values: string | null
}

interface Condition {
  sql: string
  params: SqlValue[]
}

/** So many threads are looked at in one statement; values are larger. */
const PAGE = 1000
const PAGE_WITH_VALUES = 100

type Filters = Pick<ThreadSearch, 'metadata' | 'values' | 'status' | 'visible'>

function entriesOf(filter: JsonObject | undefined): [string, JsonValue][] {
  return Object.entries(filter ?? {}).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined)
}

function hasAll(text: string | null, wanted: readonly [string, JsonValue][]): boolean {
  if (wanted.length === 0) return true
  return text !== null && containsJson(JSON.parse(text), Object.fromEntries(wanted))
}

/** What a JSON text with all these keys must contain somewhere: rules out most threads without parsing. */
function mayContain(
  database: RunDatabase,
  column: string,
  wanted: readonly [string, JsonValue][],
): Condition {
  const find = database.dialect === 'postgres' ? 'strpos' : 'instr'
  if (wanted.length === 0) return { sql: 'NULL', params: [] }
  const tests = wanted.map(() => `${find}(${column}, ?) > 0`).join(' AND ')
  const params = wanted.map(([key]) => `${JSON.stringify(key)}:`)
  return { sql: `CASE WHEN ${tests} THEN ${column} END`, params }
}

/** Reads all of a tenant's threads, page by page so that nothing else has to wait, and keeps those that match. */
async function scan(database: RunDatabase, tenant: Tenant, search: ThreadSearch): Promise<Candidate[]> {
  const metadata = entriesOf(search.metadata)
  const values = entriesOf(search.values)
  const { visible } = search
  const inMetadata: Condition =
    visible !== undefined && metadata.length === 0
      ? { sql: 't.metadata', params: [] }
      : mayContain(database, 't.metadata', metadata)
  const inValues = mayContain(database, 's.state_values', values)
  const join =
    values.length === 0
      ? ''
      : `LEFT JOIN thread_states s ON s.thread_id = t.thread_id AND s.deployment_id = t.deployment_id
          AND s.workspace_id = t.workspace_id`
  const read = (condition: Condition): Promise<Candidate[]> =>
    database.query<Candidate>(
      `SELECT t.thread_id, t.status, t.created_at, t.updated_at, t.state_updated_at, ${inMetadata.sql} AS metadata,
        ${inValues.sql} AS state_values FROM threads t ${join}
        WHERE t.deployment_id = ? AND t.workspace_id = ? ${condition.sql}`,
      [
        ...inMetadata.params,
        ...inValues.params,
        tenant.deployment_id,
        tenant.workspace_id,
        ...condition.params,
      ],
    )
  const matches = (thread: Candidate): boolean =>
    (search.status === undefined || thread.status === search.status) &&
    hasAll(thread.metadata, metadata) &&
    (visible === undefined || visible(JSON.parse(thread.metadata ?? '{}') as JsonObject)) &&
    hasAll(thread.state_values, values)

  const size = values.length === 0 ? PAGE : PAGE_WITH_VALUES
  const pages = search.ids === undefined ? allPages(read, size) : pagesOfIds(read, search.ids, size)
  const found: Candidate[] = []
  for await (const page of pages) {
    for (const thread of page) {
      if (matches(thread)) found.push({ ...thread, metadata: null, state_values: null })
    }
  }
  return found
}

type Read = (condition: Condition) => Promise<Candidate[]>

async function pause(): Promise<void> {
  await new Promise((resume) => setImmediate(resume))
}

async function* allPages(read: Read, size: number): AsyncIterable<Candidate[]> {
  let after: Candidate | undefined
  do {
    const bound = after === undefined ? '' : 'AND (t.created_at, t.thread_id) < (?, ?)'
    const params = after === undefined ? [] : [after.created_at, after.thread_id]
    const order = `ORDER BY t.created_at DESC, t.thread_id DESC LIMIT ${size}`
    const page = await read({ sql: `${bound} ${order}`, params })
    yield page
    after = page.length < size ? undefined : page.at(-1)
    await pause()
  } while (after !== undefined)
}

async function* pagesOfIds(read: Read, ids: readonly string[], size: number): AsyncIterable<Candidate[]> {
  for (const chunk of chunksOf([...new Set(ids)], size)) {
    const { places, values } = inList(chunk)
    yield await read({ sql: `AND t.thread_id IN ${places}`, params: values })
    await pause()
  }
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Whole threads in the order of `ids`; one that is gone meanwhile is left out. */
async function threadsOf(database: RunDatabase, tenant: Tenant, ids: readonly string[]): Promise<Thread[]> {
  const threads = new Map<string, Thread>()
  for (const chunk of chunksOf(ids, PAGE_WITH_VALUES)) {
    const { places, values } = inList(chunk)
    const rows = await database.query<ThreadRow>(
      `${SELECT_THREADS} WHERE t.thread_id IN ${places} AND t.deployment_id = ? AND t.workspace_id = ?`,
      [...values, tenant.deployment_id, tenant.workspace_id],
    )
    for (const row of rows) threads.set(row.thread_id, toThread(row))
  }
  return ids.flatMap((id) => threads.get(id) ?? [])
}

function isFiltered({ metadata, values, status, visible }: Filters): boolean {
  return (
    status !== undefined ||
    visible !== undefined ||
    entriesOf(metadata).length > 0 ||
    entriesOf(values).length > 0
  )
}

/** The newest or oldest threads of a tenant: what most lists ask for, by index. */
async function searchByIndex(database: RunDatabase, tenant: Tenant, search: ThreadSearch) {
  const params = [tenant.deployment_id, tenant.workspace_id]
  const order = search.sort_order === 'asc' ? 'ASC' : 'DESC'
  const [count] = await database.query<{ total: number }>(
    'SELECT count(*) AS total FROM threads WHERE deployment_id = ? AND workspace_id = ?',
    params,
  )
  const rows = await database.query<ThreadRow>(
    `${SELECT_THREADS} WHERE t.deployment_id = ? AND t.workspace_id = ?
      ORDER BY t.created_at ${order}, t.thread_id ${order} LIMIT ? OFFSET ?`,
    [...params, search.limit, search.offset],
  )
  return { threads: rows.map(toThread), total: count?.total ?? 0 }
}

/** Finds threads; see `RunStore.searchThreads`. */
export function createThreadSearch(database: RunDatabase) {
  return async (tenant: Tenant, search: ThreadSearch): Promise<{ threads: Thread[]; total: number }> => {
    const { ids, sort_by, sort_order, limit, offset } = search
    if (ids === undefined && sort_by === 'created_at' && !isFiltered(search)) {
      return await searchByIndex(database, tenant, search)
    }
    const sign = sort_order === 'asc' ? 1 : -1
    const found = await scan(database, tenant, search)
    found.sort((a, b) => sign * (compare(a[sort_by], b[sort_by]) || compare(a.thread_id, b.thread_id)))
    const page = found.slice(offset, offset + limit).map(({ thread_id }) => thread_id)
    return { threads: await threadsOf(database, tenant, page), total: found.length }
  }
}
