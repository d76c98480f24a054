import { chunksOf } from '../../../base/chunks.ts'
import type { Tenant, Thread } from '../../../runs/model.ts'
import type { ThreadSearch } from '../../../runs/run-store.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import type { SqlValue } from '../driver/database.ts'
import { containsJson } from '../driver/json-contains.ts'
import { isList, textBytes, wholeText } from '../pieces/large-text.ts'
import { fitting, portionsOf, type Sized } from '../../../base/portions.ts'
import { inList, SELECT_HEADS, SELECT_THREADS, type ThreadRow, toThread } from './rows.ts'
import type { RunDatabase } from './session.ts'

/** A thread without its texts. `bytes` is the size of the texts that the filters read. */
interface Candidate extends Sized {
  thread_id: string
  status: Thread['status']
  created_at: number
  updated_at: number
  state_updated_at: number
}

/** Texts that the filters read. Null if the database has found that the thread cannot match. */
interface Texts {
  thread_id: string
  metadata: string | null
  state_values: string | null
}

interface Condition {
  sql: string
  params: SqlValue[]
}

/** Number of threads that one statement reads, without their texts. */
const PAGE = 1000

type Filters = Pick<ThreadSearch, 'metadata' | 'values' | 'status' | 'visible'>

function entriesOf(filter: JsonObject | undefined): [string, JsonValue][] {
  return Object.entries(filter ?? {}).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined)
}

function hasAll(text: string | null, wanted: readonly [string, JsonValue][]): boolean {
  if (wanted.length === 0) return true
  return text !== null && containsJson(parseExact(text), Object.fromEntries(wanted))
}

/** A key that every JSON text has unescaped. */
const PLAIN = /^[ !#-.0-[\]-~]*$/

/**
 * SQL of the JSON text in `column` if it contains all wanted keys somewhere, else NULL. So most threads are ruled out
 * without parsing.
 */
function mayContain(
  database: RunDatabase,
  column: string,
  wanted: readonly [string, JsonValue][],
): Condition {
  const find = database.dialect === 'postgres' ? 'strpos' : 'instr'
  if (wanted.length === 0) return { sql: 'NULL', params: [] }
  // Graphs may write the other keys with other escapes.
  const plain = wanted.filter(([key]) => PLAIN.test(key))
  if (plain.length === 0) return { sql: column, params: [] }
  const tests = plain.map(() => `${find}(${column}, ?) > 0`).join(' AND ')
  const params = plain.map(([key]) => `"${key}":`)
  return { sql: `CASE WHEN ${tests} THEN ${column} END`, params }
}

/** As `mayContain`, for the values of a thread. Those in pieces are not ruled out. */
function mayContainValues(database: RunDatabase, wanted: readonly [string, JsonValue][]): Condition {
  const column = 's.state_values'
  const { sql, params } = mayContain(database, column, wanted)
  if (wanted.length === 0) return { sql, params }
  return { sql: `CASE WHEN ${isList(column)} THEN ${wholeText(column, 's.')} ELSE ${sql} END`, params }
}

const STATES = `LEFT JOIN thread_states s ON s.thread_id = t.thread_id AND s.deployment_id = t.deployment_id
  AND s.workspace_id = t.workspace_id`

/** Reads all threads of a tenant page by page, and returns those that match. */
async function scan(database: RunDatabase, tenant: Tenant, search: ThreadSearch): Promise<Candidate[]> {
  const filter = createFilter(database, tenant, search)
  const { metadata, values } = filter.looksAt
  const sizes = [metadata ? 'octet_length(t.metadata)' : '0', values ? textBytes('s.state_values') : '0']
  const read = (condition: Condition): Promise<Candidate[]> =>
    database.query<Candidate>(
      `SELECT t.thread_id, t.status, t.created_at, t.updated_at, t.state_updated_at,
        ${sizes.map((size) => `coalesce(${size}, 0)`).join(' + ')} AS bytes FROM threads t ${values ? STATES : ''}
        WHERE t.deployment_id = ? AND t.workspace_id = ? ${condition.sql}`,
      [tenant.deployment_id, tenant.workspace_id, ...condition.params],
    )
  const pages = search.ids === undefined ? allPages(read, PAGE) : pagesOfIds(read, search.ids, PAGE)
  const found: Candidate[] = []
  for await (const page of pages) {
    const some = page.filter(({ status }) => search.status === undefined || status === search.status)
    if (metadata || values)
      for await (const portion of portionsOf(some)) found.push(...(await filter.of(portion)))
    else found.push(...some)
  }
  return found
}

function createFilter(database: RunDatabase, tenant: Tenant, search: ThreadSearch) {
  const metadata = entriesOf(search.metadata)
  const values = entriesOf(search.values)
  const { visible } = search
  const inMetadata: Condition =
    visible !== undefined && metadata.length === 0
      ? { sql: 't.metadata', params: [] }
      : mayContain(database, 't.metadata', metadata)
  const inValues = mayContainValues(database, values)
  const matches = (texts: Texts): boolean =>
    hasAll(texts.metadata, metadata) &&
    (visible === undefined || visible(parseExact(texts.metadata ?? '{}') as JsonObject)) &&
    hasAll(texts.state_values, values)
  return {
    looksAt: { metadata: metadata.length > 0 || visible !== undefined, values: values.length > 0 },
    /** Returns the threads of a portion whose texts match. */
    async of(portion: readonly Candidate[]): Promise<Candidate[]> {
      const { places, values: ids } = inList(portion.map(({ thread_id }) => thread_id))
      const texts = await database.query<Texts>(
        `SELECT t.thread_id, ${inMetadata.sql} AS metadata, ${inValues.sql} AS state_values
          FROM threads t ${values.length > 0 ? STATES : ''}
          WHERE t.thread_id IN ${places} AND t.deployment_id = ? AND t.workspace_id = ?`,
        [...inMetadata.params, ...inValues.params, ...ids, tenant.deployment_id, tenant.workspace_id],
      )
      const matching = new Set(texts.filter(matches).map(({ thread_id }) => thread_id))
      return portion.filter(({ thread_id }) => matching.has(thread_id))
    },
  }
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

/** SQL of the bytes of a thread in a response, without its values. */
const THREAD_BYTES = `octet_length(t.metadata) + octet_length(t.config) + octet_length(t.interrupts)
  + coalesce(octet_length(t.error), 0)`

/** Complete threads in the order of `ids`, as many as fit into the page; deleted ones are left out. */
async function threadsOf(
  database: RunDatabase,
  tenant: Tenant,
  ids: readonly string[],
  { max_bytes, with_values = true }: Pick<ThreadSearch, 'max_bytes' | 'with_values'>,
): Promise<Thread[]> {
  const size = with_values ? `${THREAD_BYTES} + coalesce(${textBytes('s.state_values')}, 0)` : THREAD_BYTES
  const sized = new Map<string, number>()
  for (const chunk of chunksOf(ids, PAGE)) {
    const { places, values } = inList(chunk)
    const rows = await database.query<{ thread_id: string; bytes: number }>(
      `SELECT t.thread_id, ${size} AS bytes FROM threads t ${with_values ? STATES : ''}
        WHERE t.thread_id IN ${places} AND t.deployment_id = ? AND t.workspace_id = ?`,
      [...values, tenant.deployment_id, tenant.workspace_id],
    )
    for (const { thread_id, bytes } of rows) sized.set(thread_id, bytes)
  }
  const there = ids.flatMap((thread_id) => ({ thread_id, bytes: sized.get(thread_id) ?? 0 }))
  const threads = new Map<string, Thread>()
  for await (const portion of portionsOf(fitting(there, max_bytes))) {
    const { places, values } = inList(portion.map(({ thread_id }) => thread_id))
    const rows = await database.query<ThreadRow>(
      `${with_values ? SELECT_THREADS : SELECT_HEADS}
        WHERE t.thread_id IN ${places} AND t.deployment_id = ? AND t.workspace_id = ?`,
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

/** The newest or oldest threads of a tenant, read through an index. This is enough for most lists. */
async function searchByIndex(database: RunDatabase, tenant: Tenant, search: ThreadSearch) {
  const params = [tenant.deployment_id, tenant.workspace_id]
  const order = search.sort_order === 'asc' ? 'ASC' : 'DESC'
  const [count] = await database.query<{ total: number }>(
    'SELECT count(*) AS total FROM threads WHERE deployment_id = ? AND workspace_id = ?',
    params,
  )
  const rows = await database.query<{ thread_id: string }>(
    `SELECT thread_id FROM threads WHERE deployment_id = ? AND workspace_id = ?
      ORDER BY created_at ${order}, thread_id ${order} LIMIT ? OFFSET ?`,
    [...params, search.limit, search.offset],
  )
  const ids = rows.map(({ thread_id }) => thread_id)
  return { threads: await threadsOf(database, tenant, ids, search), total: count?.total ?? 0 }
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
    return { threads: await threadsOf(database, tenant, page, search), total: found.length }
  }
}
