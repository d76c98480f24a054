import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../base/clock.ts'
import type {
  Assistant,
  AssistantChange,
  AssistantSearch,
  AssistantStore,
  NewAssistant,
} from '../../../runs/assistants/store.ts'
import type { Tenant } from '../../../runs/model.ts'
import { type Quotas, UNLIMITED } from '../../../base/quotas.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { bounded } from '../../../schema/merge-bounded.ts'
import type { Database, SqlSession, SqlValue, TxSession } from '../driver/database.ts'
import { containsJson } from '../driver/json-contains.ts'
import { pageOf } from '../driver/page-of.ts'
import { fitting, portionsOf, type Sized } from '../../../base/portions.ts'
import { countUse } from '../workspace-use.ts'

const COLUMNS = [
  'assistant_id',
  'graph_id',
  'version',
  'name',
  'description',
  'config',
  'context',
  'metadata',
  'created_at',
  'updated_at',
] as const
const SELECTED = COLUMNS.join(', ')
const OF_TENANT = 'deployment_id = ? AND workspace_id = ?'
const KEY = `assistant_id = ? AND ${OF_TENANT}`

type AssistantRow = Omit<Assistant, 'config' | 'context' | 'metadata'> &
  Record<'config' | 'context' | 'metadata', string>

function toAssistant(row: AssistantRow): Assistant {
  return {
    ...row,
    config: parseExact(row.config) as JsonObject,
    context: parseExact(row.context) as JsonObject,
    metadata: parseExact(row.metadata) as JsonObject,
  }
}

function valuesOf(assistant: Assistant): SqlValue[] {
  return COLUMNS.map((column) => {
    const value = assistant[column]
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  })
}

function keyOf(tenant: Tenant, assistant_id: string): SqlValue[] {
  return [assistant_id, tenant.deployment_id, tenant.workspace_id]
}

/** Inserts a row. Returns false, without inserting it, if a row with its key exists. */
async function insert(
  session: SqlSession,
  table: 'assistants' | 'assistant_versions',
  tenant: Tenant,
  assistant: Assistant,
): Promise<boolean> {
  const rows = await session.query(
    `INSERT INTO ${table} (${SELECTED}, deployment_id, workspace_id)
      VALUES (${COLUMNS.map(() => '?').join(', ')}, ?, ?) ON CONFLICT DO NOTHING RETURNING version`,
    [...valuesOf(assistant), tenant.deployment_id, tenant.workspace_id],
  )
  return rows.length > 0
}

async function find(
  session: SqlSession,
  tenant: Tenant,
  assistant_id: string,
): Promise<Assistant | undefined> {
  const rows = await session.query<AssistantRow>(
    `SELECT ${SELECTED} FROM assistants WHERE ${KEY}`,
    keyOf(tenant, assistant_id),
  )
  return rows.map(toAssistant)[0]
}

async function replace(session: SqlSession, tenant: Tenant, assistant: Assistant): Promise<Assistant> {
  await session.query(
    `UPDATE assistants SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE ${KEY}`,
    [...valuesOf(assistant), ...keyOf(tenant, assistant.assistant_id)],
  )
  return assistant
}

async function newest(session: SqlSession, tenant: Tenant, assistant_id: string): Promise<number> {
  const [row] = await session.query<{ version: number | null }>(
    `SELECT max(version) AS version FROM assistant_versions WHERE ${KEY}`,
    keyOf(tenant, assistant_id),
  )
  return row?.version ?? 0
}

function changed(assistant: Assistant, change: AssistantChange, version: number, now: number): Assistant {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const merged = { ...assistant.metadata, ...change.metadata }
  const metadata = bounded(assistant.metadata, merged, 'metadata of the assistant')
  return { ...assistant, ...given, metadata, version, updated_at: now }
}

/** Key and size of a row, without its texts. */
type Place<Id> = Sized &
  Pick<Assistant, 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at'> & { id: Id }

const ROW_BYTES =
  'octet_length(config) + octet_length(context) + octet_length(metadata) + coalesce(octet_length(description), 0)'

interface Rows<Id extends string | number> {
  table: 'assistants' | 'assistant_versions'
  /** The column that identifies a row. */
  id: 'assistant_id' | 'version'
  where: string
  params: SqlValue[]
  places: Place<Id>[]
}

/** Complete rows at `places`, in that order; deleted ones are left out. */
async function* readAt<Id extends string | number>(
  session: SqlSession,
  { table, id, where, params, places }: Rows<Id>,
): AsyncGenerator<Assistant[]> {
  for await (const portion of portionsOf(places)) {
    const rows = await session.query<AssistantRow>(
      `SELECT ${SELECTED} FROM ${table} WHERE ${where} AND ${id} IN (${portion.map(() => '?').join(', ')})`,
      [...params, ...portion.map((place) => place.id)],
    )
    const byId = new Map(rows.map((row) => [row[id], toAssistant(row)]))
    yield portion.flatMap((place) => byId.get(place.id) ?? [])
  }
}

/**
 * The places of rows whose metadata match. Reads the rows in portions, so that only one portion is in memory at a time.
 */
async function matching<Id extends string | number>(
  session: SqlSession,
  rows: Rows<Id>,
  { metadata, visible }: Pick<AssistantSearch, 'metadata' | 'visible'>,
): Promise<Place<Id>[]> {
  if (visible === undefined && Object.keys(metadata ?? {}).length === 0) return rows.places
  const ids = new Set<string | number>()
  for await (const some of readAt(session, rows)) {
    for (const one of some) {
      if (visible?.(one.metadata) !== false && containsJson(one.metadata, metadata ?? {}))
        ids.add(one[rows.id])
    }
  }
  return rows.places.filter(({ id }) => ids.has(id))
}

async function gather<T>(parts: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const part of parts) all.push(...part)
  return all
}

function isSame(known: Assistant, { description, config, context }: NewAssistant): boolean {
  return isDeepStrictEqual([known.description, known.config, known.context], [description, config, context])
}

type InTx = <T>(tenant: Tenant, assistant_id: string, work: (session: TxSession) => Promise<T>) => Promise<T>

function createReads(database: Database): Pick<AssistantStore, 'get' | 'versions' | 'search'> {
  return {
    get: (tenant, assistant_id) => find(database, tenant, assistant_id),
    async versions(tenant, assistant_id, { metadata, limit, offset, max_bytes }) {
      const params = keyOf(tenant, assistant_id)
      const places = await database.query<Place<number>>(
        `SELECT version AS id, ${ROW_BYTES} AS bytes FROM assistant_versions WHERE ${KEY} ORDER BY version DESC`,
        params,
      )
      if (places.length === 0) return undefined
      const rows = { table: 'assistant_versions', id: 'version', where: KEY, params, places } as const
      const found = (await matching(database, { ...rows, places }, { metadata })).slice(offset)
      const shown = fitting(found.slice(0, limit), max_bytes)
      const versions = await gather(readAt(database, { ...rows, places: shown }))
      return { versions, more: shown.length < found.length }
    },
    async search(tenant, search) {
      const { graph_id, name = '', max_bytes } = search
      const params = [tenant.deployment_id, tenant.workspace_id]
      const all = await database.query<Place<string>>(
        `SELECT assistant_id AS id, assistant_id, graph_id, name, created_at, updated_at, ${ROW_BYTES} AS bytes
          FROM assistants WHERE ${OF_TENANT} ${graph_id === undefined ? '' : 'AND graph_id = ?'}`,
        [...params, ...(graph_id === undefined ? [] : [graph_id])],
      )
      const places = all.filter((one) => one.name.toLowerCase().includes(name.toLowerCase()))
      const rows = { table: 'assistants', id: 'assistant_id', where: OF_TENANT, params } as const
      const found = await matching(database, { ...rows, places }, search)
      const shown = fitting(pageOf(found, search, 'assistant_id'), max_bytes)
      return { assistants: await gather(readAt(database, { ...rows, places: shown })), total: found.length }
    },
  }
}

function createChanges(
  inTx: InTx,
  clock: Clock,
  quotas: Quotas,
): Pick<AssistantStore, 'update' | 'setLatest' | 'remove'> {
  return {
    update: (tenant, assistant_id, change) =>
      inTx(tenant, assistant_id, async (session) => {
        const known = await find(session, tenant, assistant_id)
        if (known === undefined) return undefined
        const version = (await newest(session, tenant, assistant_id)) + 1
        const next = changed(known, change, version, clock.now())
        await insert(session, 'assistant_versions', tenant, { ...next, created_at: next.updated_at })
        return await replace(session, tenant, next)
      }),
    setLatest: (tenant, assistant_id, version) =>
      inTx(tenant, assistant_id, async (session) => {
        const known = await find(session, tenant, assistant_id)
        const rows = await session.query<AssistantRow>(
          `SELECT ${SELECTED} FROM assistant_versions WHERE ${KEY} AND version = ?`,
          [...keyOf(tenant, assistant_id), version],
        )
        const [wanted] = rows.map(toAssistant)
        if (known === undefined || wanted === undefined) return undefined
        const next = { ...wanted, created_at: known.created_at, updated_at: clock.now() }
        return await replace(session, tenant, next)
      }),
    remove: (tenant, assistant_id) =>
      inTx(tenant, assistant_id, async (session) => {
        const key = keyOf(tenant, assistant_id)
        await session.query(`DELETE FROM assistant_versions WHERE ${KEY}`, key)
        const rows = await session.query(`DELETE FROM assistants WHERE ${KEY} RETURNING version`, key)
        await countUse(session, tenant, 'assistants', -rows.length, quotas)
        return rows.length > 0
      }),
  }
}

/** Assistants in a run database that has been migrated. */
export function createAssistantStore(
  database: Database,
  clock: Clock,
  quotas: Quotas = UNLIMITED,
): AssistantStore {
  const inTx: InTx = (tenant, assistant_id, work) =>
    database.tx(`assistant:${keyOf(tenant, assistant_id).join('/')}`, work)
  const make = (tenant: Tenant, assistant: NewAssistant, within: Quotas): Promise<Assistant | undefined> => {
    const now = clock.now()
    const made = { ...assistant, version: 1, created_at: now, updated_at: now }
    return inTx(tenant, assistant.assistant_id, async (session) => {
      if (!(await insert(session, 'assistants', tenant, made))) return undefined
      await insert(session, 'assistant_versions', tenant, made)
      await countUse(session, tenant, 'assistants', 1, within)
      return made
    })
  }
  const renew = (tenant: Tenant, assistant: NewAssistant): Promise<void> =>
    inTx(tenant, assistant.assistant_id, async (session) => {
      const known = await find(session, tenant, assistant.assistant_id)
      if (known === undefined || (await newest(session, tenant, assistant.assistant_id)) > 1) return
      const { assistant_id, description, config, context } = assistant
      await replace(session, tenant, { ...known, description, config, context, updated_at: clock.now() })
      await session.query(
        `UPDATE assistant_versions SET description = ?, config = ?, context = ? WHERE ${KEY}`,
        [description, JSON.stringify(config), JSON.stringify(context), ...keyOf(tenant, assistant_id)],
      )
    })
  return {
    ...createReads(database),
    ...createChanges(inTx, clock, quotas),
    async ensure(tenant, assistants) {
      for (const assistant of assistants) {
        const known = await find(database, tenant, assistant.assistant_id)
        if (known === undefined) await make(tenant, assistant, UNLIMITED)
        else if (!isSame(known, assistant)) await renew(tenant, assistant)
      }
    },
    async create(tenant, assistant) {
      const made = await make(tenant, assistant, quotas)
      if (made !== undefined) return { kind: 'created', assistant: made }
      const known = await find(database, tenant, assistant.assistant_id)
      // The assistant was deleted in the meantime, so it can be created now.
      return known === undefined ? await this.create(tenant, assistant) : { kind: 'exists', assistant: known }
    },
  }
}
