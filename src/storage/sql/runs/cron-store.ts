import type { Clock } from '../../../base/clock.ts'
import type { Cron, CronSearch, CronStore, DueCron } from '../../../runs/crons/store.ts'
import type { Caller, Tenant } from '../../../runs/model.ts'
import { type Quotas, UNLIMITED } from '../../../base/quotas.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Database, SqlSession, SqlValue } from '../driver/database.ts'
import { containsJson } from '../driver/json-contains.ts'
import { pageOf } from '../driver/page-of.ts'
import { fitting, portionsOf, type Sized } from '../../../base/portions.ts'
import { takeDate } from './cron-dates.ts'
import { countUse } from '../workspace-use.ts'

const COLUMNS = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'on_run_completed',
  'schedule',
  'timezone',
  'end_time',
  'next_run_date',
  'enabled',
  'caller',
  'payload',
  'metadata',
  'created_at',
  'updated_at',
] as const
const SELECTED = COLUMNS.join(', ')
const KEY = 'cron_id = ? AND deployment_id = ? AND workspace_id = ?'

type CronRow = Omit<Cron, 'enabled' | 'caller' | 'payload' | 'metadata'> &
  Record<'caller' | 'payload' | 'metadata', string> & { enabled: number }

function toCron(row: CronRow): Cron {
  return {
    ...row,
    enabled: row.enabled === 1,
    caller: JSON.parse(row.caller) as Caller,
    payload: parseExact(row.payload) as JsonObject,
    metadata: parseExact(row.metadata) as JsonObject,
  }
}

function valuesOf(cron: Cron): SqlValue[] {
  return COLUMNS.map((column) => {
    const value = cron[column]
    if (typeof value === 'boolean') return value ? 1 : 0
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  })
}

function keyOf(tenant: Tenant, cron_id: string): SqlValue[] {
  return [cron_id, tenant.deployment_id, tenant.workspace_id]
}

function marks(count: number): string {
  return `(${Array(count).fill('?').join(', ')})`
}

async function find(
  session: SqlSession,
  tenant: Tenant,
  cron_id: string,
  lock = '',
): Promise<Cron | undefined> {
  const rows = await session.query<CronRow>(
    `SELECT ${SELECTED} FROM crons WHERE ${KEY}${lock}`,
    keyOf(tenant, cron_id),
  )
  return rows.map(toCron)[0]
}

/** Key, size and order of a cron, without its texts. */
type Place = Sized & Pick<Cron, CronSearch['sort_by']> & { enabled: number }

const ROW_BYTES = 'octet_length(caller) + octet_length(payload) + octet_length(metadata)'
const PLACE = `cron_id, assistant_id, thread_id, next_run_date, end_time, enabled, created_at, updated_at,
  ${ROW_BYTES} AS bytes`
/** Maximum bytes of due crons that are read at a time. */
const DUE_BYTES = 1 << 20

function isWanted(place: Place, { assistant_id, thread_id, enabled }: CronSearch): boolean {
  if (assistant_id !== undefined && place.assistant_id !== assistant_id) return false
  if (thread_id !== undefined && place.thread_id !== thread_id) return false
  return enabled === undefined || (place.enabled === 1) === enabled
}

/** Complete crons at `places`, in that order; deleted ones are left out. */
async function* readAt(
  session: SqlSession,
  tenant: Tenant,
  places: readonly Place[],
): AsyncGenerator<Cron[]> {
  for await (const portion of portionsOf(places)) {
    const rows = await session.query<CronRow>(
      `SELECT ${SELECTED} FROM crons WHERE cron_id IN ${marks(portion.length)} AND deployment_id = ? AND workspace_id = ?`,
      [...portion.map(({ cron_id }) => cron_id), tenant.deployment_id, tenant.workspace_id],
    )
    const byId = new Map(rows.map((row) => [row.cron_id, toCron(row)]))
    yield portion.flatMap(({ cron_id }) => byId.get(cron_id) ?? [])
  }
}

async function search(
  session: SqlSession,
  tenant: Tenant,
  wanted: CronSearch,
): Promise<{ crons: Cron[]; total: number }> {
  const { metadata = {}, visible, max_bytes } = wanted
  const all = await session.query<Place>(
    `SELECT ${PLACE} FROM crons WHERE deployment_id = ? AND workspace_id = ?`,
    [tenant.deployment_id, tenant.workspace_id],
  )
  let found = all.filter((place) => isWanted(place, wanted))
  if (visible !== undefined || Object.keys(metadata).length > 0) {
    const ids = new Set<string>()
    for await (const crons of readAt(session, tenant, found)) {
      for (const cron of crons) {
        if (visible?.(cron.metadata) !== false && containsJson(cron.metadata, metadata)) ids.add(cron.cron_id)
      }
    }
    found = found.filter(({ cron_id }) => ids.has(cron_id))
  }
  const shown = fitting(pageOf(found, wanted, 'cron_id'), max_bytes)
  const crons: Cron[] = []
  for await (const some of readAt(session, tenant, shown)) crons.push(...some)
  return { crons, total: found.length }
}

function createTimes(database: Database): Pick<CronStore, 'due' | 'advance' | 'nextDue'> {
  return {
    async due(deployments, now, limit) {
      if (deployments.length === 0) return []
      const due = await database.query<Tenant & Sized & Pick<Cron, 'cron_id' | 'next_run_date'>>(
        `SELECT cron_id, deployment_id, workspace_id, next_run_date, ${ROW_BYTES} AS bytes FROM crons
          WHERE next_run_date <= ? AND deployment_id IN ${marks(deployments.length)} ORDER BY next_run_date LIMIT ?`,
        [now, ...deployments, limit],
      )
      const crons: DueCron[] = []
      for (const { cron_id, deployment_id, workspace_id, next_run_date } of fitting(due, DUE_BYTES)) {
        const cron = await find(database, { deployment_id, workspace_id }, cron_id)
        // Another server may have moved the cron to a later date since the list was read.
        if (cron?.next_run_date === next_run_date) crons.push({ deployment_id, workspace_id, cron })
      }
      return crons
    },
    advance: ({ cron: { cron_id, next_run_date }, ...tenant }, next) =>
      takeDate(database, tenant, { cron_id, due_at: next_run_date ?? 0, next }),
    async nextDue(deployments) {
      if (deployments.length === 0) return undefined
      const rows = await database.query<{ next: number | null }>(
        `SELECT min(next_run_date) AS next FROM crons WHERE deployment_id IN ${marks(deployments.length)}`,
        deployments,
      )
      return rows[0]?.next ?? undefined
    },
  }
}

/** Crons in a run database that has been migrated. */
export function createCronStore(database: Database, clock: Clock, quotas: Quotas = UNLIMITED): CronStore {
  // Dates are taken by transactions of other locks. A date that is taken during a change must not be due again.
  const forUpdate = database.dialect === 'postgres' ? ' FOR UPDATE' : ''
  return {
    create: (tenant, cron) =>
      database.tx(`cron:${cron.cron_id}`, async (session) => {
        await session.query(
          `INSERT INTO crons (${SELECTED}, deployment_id, workspace_id) VALUES ${marks(COLUMNS.length + 2)}`,
          [...valuesOf(cron), tenant.deployment_id, tenant.workspace_id],
        )
        await countUse(session, tenant, 'crons', 1, quotas)
      }),
    get: (tenant, cron_id) => find(database, tenant, cron_id),
    update: (tenant, cron_id, change) =>
      database.tx(`cron:${cron_id}`, async (session) => {
        const known = await find(session, tenant, cron_id, forUpdate)
        if (known === undefined) return undefined
        const next = { ...change(known), cron_id, created_at: known.created_at, updated_at: clock.now() }
        await session.query(
          `UPDATE crons SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE ${KEY}`,
          [...valuesOf(next), ...keyOf(tenant, cron_id)],
        )
        return next
      }),
    remove: (tenant, cron_id) =>
      database.tx(`cron:${cron_id}`, async (session) => {
        const sql = `DELETE FROM crons WHERE ${KEY} RETURNING cron_id`
        const removed = await session.query(sql, keyOf(tenant, cron_id))
        await countUse(session, tenant, 'crons', -removed.length, quotas)
        return removed.length > 0
      }),
    search: (tenant, wanted) => search(database, tenant, wanted),
    ...createTimes(database),
  }
}
