import type { Clock } from '../../base/clock.ts'
import type { Cron, CronSearch, CronStore, DueCron } from '../../runs/cron-store.ts'
import type { Caller, Tenant } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Database, SqlSession, SqlValue } from './database.ts'
import { containsJson } from './json-contains.ts'
import { pageOf } from './page-of.ts'

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
    payload: JSON.parse(row.payload) as JsonObject,
    metadata: JSON.parse(row.metadata) as JsonObject,
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

async function find(session: SqlSession, tenant: Tenant, cron_id: string): Promise<Cron | undefined> {
  const rows = await session.query<CronRow>(
    `SELECT ${SELECTED} FROM crons WHERE ${KEY}`,
    keyOf(tenant, cron_id),
  )
  return rows.map(toCron)[0]
}

function matches(cron: Cron, search: CronSearch): boolean {
  const { assistant_id, thread_id, enabled, metadata = {}, visible } = search
  if (visible?.(cron.metadata) === false) return false
  if (assistant_id !== undefined && cron.assistant_id !== assistant_id) return false
  if (thread_id !== undefined && cron.thread_id !== thread_id) return false
  if (enabled !== undefined && cron.enabled !== enabled) return false
  return containsJson(cron.metadata, metadata)
}

function createTimes(database: Database): Pick<CronStore, 'due' | 'advance' | 'nextDue'> {
  return {
    async due(deployments, now, limit) {
      if (deployments.length === 0) return []
      const rows = await database.query<CronRow & Tenant>(
        `SELECT ${SELECTED}, deployment_id, workspace_id FROM crons WHERE next_run_date IS NOT NULL
          AND next_run_date <= ? AND deployment_id IN ${marks(deployments.length)} ORDER BY next_run_date LIMIT ?`,
        [now, ...deployments, limit],
      )
      return rows.map(
        ({ deployment_id, workspace_id, ...row }): DueCron => ({
          deployment_id,
          workspace_id,
          cron: toCron(row),
        }),
      )
    },
    async advance({ cron, ...tenant }, next_run_date) {
      const rows = await database.query(
        `UPDATE crons SET next_run_date = ? WHERE ${KEY} AND next_run_date = ? RETURNING cron_id`,
        [next_run_date, ...keyOf(tenant, cron.cron_id), cron.next_run_date],
      )
      return rows.length > 0
    },
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
export function createCronStore(database: Database, clock: Clock): CronStore {
  return {
    async create(tenant, cron) {
      await database.query(
        `INSERT INTO crons (${SELECTED}, deployment_id, workspace_id) VALUES ${marks(COLUMNS.length + 2)}`,
        [...valuesOf(cron), tenant.deployment_id, tenant.workspace_id],
      )
    },
    get: (tenant, cron_id) => find(database, tenant, cron_id),
    update: (tenant, cron_id, change) =>
      database.tx(`cron:${cron_id}`, async (session) => {
        const known = await find(session, tenant, cron_id)
        if (known === undefined) return undefined
        const next = { ...change(known), cron_id, created_at: known.created_at, updated_at: clock.now() }
        await session.query(
          `UPDATE crons SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE ${KEY}`,
          [...valuesOf(next), ...keyOf(tenant, cron_id)],
        )
        return next
      }),
    async remove(tenant, cron_id) {
      const rows = await database.query(
        `DELETE FROM crons WHERE ${KEY} RETURNING cron_id`,
        keyOf(tenant, cron_id),
      )
      return rows.length > 0
    },
    async removeOfThread({ deployment_id, workspace_id }, thread_id) {
      await database.query(
        'DELETE FROM crons WHERE thread_id = ? AND deployment_id = ? AND workspace_id = ?',
        [thread_id, deployment_id, workspace_id],
      )
    },
    async search({ deployment_id, workspace_id }, search) {
      const rows = await database.query<CronRow>(
        `SELECT ${SELECTED} FROM crons WHERE deployment_id = ? AND workspace_id = ?`,
        [deployment_id, workspace_id],
      )
      const found = rows.map(toCron).filter((cron) => matches(cron, search))
      return { crons: pageOf(found, search, 'cron_id'), total: found.length }
    },
    ...createTimes(database),
  }
}
