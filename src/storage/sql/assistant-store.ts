import type { Clock } from '../../base/clock.ts'
import type {
  Assistant,
  AssistantChange,
  AssistantSearch,
  AssistantStore,
  NewAssistant,
} from '../../runs/assistant-store.ts'
import type { Tenant } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Database, SqlSession, SqlValue } from './database.ts'
import { containsJson } from './json-contains.ts'
import { pageOf } from './page-of.ts'

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
    config: JSON.parse(row.config) as JsonObject,
    context: JSON.parse(row.context) as JsonObject,
    metadata: JSON.parse(row.metadata) as JsonObject,
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

/** Whether the row was not there. */
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
  const metadata = { ...assistant.metadata, ...change.metadata }
  return { ...assistant, ...given, metadata, version, updated_at: now }
}

function matches({ name, metadata }: Assistant, search: AssistantSearch): boolean {
  const part = search.name?.toLowerCase() ?? ''
  if (search.visible?.(metadata) === false) return false
  return name.toLowerCase().includes(part) && containsJson(metadata, search.metadata ?? {})
}

type InTx = <T>(tenant: Tenant, assistant_id: string, work: (session: SqlSession) => Promise<T>) => Promise<T>

function createReads(database: Database): Pick<AssistantStore, 'get' | 'versions' | 'search'> {
  return {
    get: (tenant, assistant_id) => find(database, tenant, assistant_id),
    async versions(tenant, assistant_id, { metadata = {}, limit, offset }) {
      if ((await find(database, tenant, assistant_id)) === undefined) return undefined
      const rows = await database.query<AssistantRow>(
        `SELECT ${SELECTED} FROM assistant_versions WHERE ${KEY} ORDER BY version DESC`,
        keyOf(tenant, assistant_id),
      )
      const found = rows.map(toAssistant).filter((version) => containsJson(version.metadata, metadata))
      return found.slice(offset, offset + limit)
    },
    async search(tenant, search) {
      const { graph_id } = search
      const rows = await database.query<AssistantRow>(
        `SELECT ${SELECTED} FROM assistants WHERE ${OF_TENANT} ${graph_id === undefined ? '' : 'AND graph_id = ?'}`,
        [tenant.deployment_id, tenant.workspace_id, ...(graph_id === undefined ? [] : [graph_id])],
      )
      const found = rows.map(toAssistant).filter((assistant) => matches(assistant, search))
      return { assistants: pageOf(found, search, 'assistant_id'), total: found.length }
    },
  }
}

function createChanges(inTx: InTx, clock: Clock): Pick<AssistantStore, 'update' | 'setLatest' | 'remove'> {
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
        return rows.length > 0
      }),
  }
}

/** Assistants in a run database that has been migrated. */
export function createAssistantStore(database: Database, clock: Clock): AssistantStore {
  const inTx: InTx = (tenant, assistant_id, work) =>
    database.tx(`assistant:${keyOf(tenant, assistant_id).join('/')}`, work)
  const make = (tenant: Tenant, assistant: NewAssistant): Promise<Assistant | undefined> => {
    const now = clock.now()
    const made = { ...assistant, version: 1, created_at: now, updated_at: now }
    return inTx(tenant, assistant.assistant_id, async (session) => {
      if (!(await insert(session, 'assistants', tenant, made))) return undefined
      await insert(session, 'assistant_versions', tenant, made)
      return made
    })
  }
  return {
    ...createReads(database),
    ...createChanges(inTx, clock),
    async ensure(tenant, assistants) {
      for (const assistant of assistants) {
        if ((await find(database, tenant, assistant.assistant_id)) === undefined)
          await make(tenant, assistant)
      }
    },
    async create(tenant, assistant) {
      const made = await make(tenant, assistant)
      if (made !== undefined) return { kind: 'created', assistant: made }
      const known = await find(database, tenant, assistant.assistant_id)
      // It was deleted in between: now it can be made.
      return known === undefined ? await this.create(tenant, assistant) : { kind: 'exists', assistant: known }
    },
  }
}
