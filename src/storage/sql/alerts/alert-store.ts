import type {
  Alert,
  AlertFields,
  AlertPlace,
  AlertStore,
  Evaluation,
  Notification,
} from '../../../alerts/alert.ts'
import type { Clock } from '../../../base/clock.ts'
import { AppError, toAppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import { type Database, type SqlSession, storableText } from '../driver/database.ts'

interface AlertRow extends Omit<Alert, 'is_enabled'> {
  is_enabled: number
  change_no: number
}

const FIELDS = [
  ...['name', 'subject', 'filter', 'figure', 'comparison', 'threshold', 'window_minutes', 'no_data'],
  ...['webhook_url', 'is_enabled'],
] as const
const COLUMNS = [
  ...['workspace_id', 'project_id', 'id', ...FIELDS, 'created_by', 'created_at', 'modified_at', 'version'],
  ...[
    'state',
    'since',
    'value',
    'unpriced_runs',
    'evaluated_at',
    'fault',
    'delivery',
    'delivery_at',
    'change_no',
  ],
].join(', ')
/** Fields that decide about the state. */
const DECIDING = [
  ...(['subject', 'filter', 'figure', 'comparison', 'threshold', 'window_minutes', 'no_data'] as const),
  'is_enabled',
] as const
const PLACE = 'workspace_id = ? AND id = ?'
/** Maximum number of rules of a workspace. */
const MAX_ALERTS = 100
/** All evaluations read the store of traces, so they are taken by one server at a time. */
const TAKING = 'alerts-due'

/** Lock of every transaction that changes the alerts of a workspace. */
export const alertsLock = (workspace_id: string): string => `alerts:${workspace_id}`

function toAlert({ change_no: _change, ...row }: AlertRow): Alert {
  return { ...row, is_enabled: row.is_enabled === 1 }
}

async function find(session: SqlSession, { workspace_id, id }: AlertPlace): Promise<AlertRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM alerts WHERE ${PLACE}`
  return (await session.query<AlertRow>(sql, [workspace_id, id]))[0]
}

/** Stores a change that is to be told, if the rule has a webhook. The number counts on without one. */
async function note(
  session: SqlSession,
  row: AlertRow,
  change: Pick<Notification, 'state' | 'reason' | 'value' | 'unpriced_runs' | 'window' | 'at'>,
): Promise<void> {
  const change_no = row.change_no + 1
  await session.query(`UPDATE alerts SET change_no = ? WHERE ${PLACE}`, [change_no, row.workspace_id, row.id])
  if (row.webhook_url === null) return
  const notification: Notification = { id: newUuid(), alert: toAlert(row), change_no, ...change }
  await session.query(
    `INSERT INTO alert_notifications (alert_id, change_no, id, url, notification, tries, due_at)
     VALUES (?, ?, ?, ?, ?, 0, ?)`,
    [row.id, change_no, notification.id, row.webhook_url, JSON.stringify(notification), change.at],
  )
}

/** Tells receivers of a firing rule that it no longer fires, for another reason than its figure. */
async function resolve(
  session: SqlSession,
  row: AlertRow,
  reason: Notification['reason'],
  at: number,
): Promise<void> {
  if (row.state !== 'firing') return
  const { value, unpriced_runs } = row
  await note(session, row, { state: 'ok', reason, value, unpriced_runs, window: null, at })
}

/** @throws AppError conflict for a name that another alert of the project has */
async function named<T>(write: Promise<T>): Promise<T> {
  return await write.catch((error: unknown) => {
    if (toAppError(error).code !== 'conflict') throw error
    throw new AppError('conflict', { message: 'Another alert of this project has this name.' })
  })
}

const valuesOf = (fields: AlertFields) => [
  storableText(fields.name),
  fields.subject,
  fields.filter,
  fields.figure,
  fields.comparison,
  fields.threshold,
  fields.window_minutes,
  fields.no_data,
  fields.webhook_url,
  fields.is_enabled ? 1 : 0,
]

function changing(database: Database, clock: Clock): Pick<AlertStore, 'create' | 'update' | 'delete'> {
  return {
    create: ({ workspace_id, project_id, created_by }, fields) =>
      database.tx(alertsLock(workspace_id), async (session) => {
        const sql = 'SELECT count(*) AS n FROM alerts WHERE workspace_id = ?'
        const [count] = await session.query<{ n: number }>(sql, [workspace_id])
        if ((count?.n ?? 0) >= MAX_ALERTS) throw new AppError('quota_reached')
        const now = clock.now()
        const columns = `workspace_id, project_id, id, ${FIELDS.join(', ')}, created_by, created_at, modified_at, due_at`
        const values = [workspace_id, project_id, newUuid(), ...valuesOf(fields), created_by, now, now, now]
        const places = values.map(() => '?').join(', ')
        const rows = session.query<AlertRow>(
          `INSERT INTO alerts (${columns}, version, state, change_no)
           VALUES (${places}, 1, 'unknown', 0) RETURNING ${COLUMNS}`,
          values,
        )
        return toAlert((await named(rows))[0]!)
      }),
    update: (place, changes) =>
      database.tx(alertsLock(place.workspace_id), async (session) => {
        const row = await find(session, place)
        if (row === undefined) return undefined
        const before = toAlert(row)
        const after = { ...before, ...changes }
        const now = clock.now()
        const isOther = DECIDING.some((name) => after[name] !== before[name])
        if (isOther) await resolve(session, row, after.is_enabled ? 'changed' : 'disabled', now)
        const reset = isOther
          ? `, state = 'unknown', since = NULL, value = NULL, unpriced_runs = NULL, fault = NULL`
          : ''
        const sets = FIELDS.map((name) => `${name} = ?`).join(', ')
        const rows = session.query<AlertRow>(
          `UPDATE alerts SET ${sets}, modified_at = ?, due_at = ?, version = version + 1${reset} WHERE ${PLACE}
           RETURNING ${COLUMNS}`,
          [...valuesOf(after), now, now, place.workspace_id, place.id],
        )
        return toAlert((await named(rows))[0]!)
      }),
    delete: (place) =>
      database.tx(alertsLock(place.workspace_id), async (session) => {
        const row = await find(session, place)
        if (row === undefined) return undefined
        await resolve(session, row, 'deleted', clock.now())
        await session.query(`DELETE FROM alerts WHERE ${PLACE}`, [place.workspace_id, place.id])
        return toAlert(row)
      }),
  }
}

/** The rule, if it is still the version that was evaluated. */
async function current(session: SqlSession, alert: Alert): Promise<AlertRow | undefined> {
  const row = await find(session, alert)
  return row?.version === alert.version ? row : undefined
}

async function settle(session: SqlSession, alert: Alert, evaluation: Evaluation): Promise<void> {
  const row = await current(session, alert)
  // An evaluation may end after a later one of another server.
  if (row === undefined || (row.evaluated_at ?? 0) > evaluation.at) return
  const { state, value, unpriced_runs, at } = evaluation
  const isChanged = state !== row.state
  await session.query(
    `UPDATE alerts SET state = ?, since = ?, value = ?, unpriced_runs = ?, evaluated_at = ?, fault = NULL
     WHERE ${PLACE}`,
    [state, isChanged ? at : row.since, value, unpriced_runs, at, row.workspace_id, row.id],
  )
  // A rule that does not fire at its first evaluation has nothing to tell.
  if (isChanged && state !== 'unknown' && (state === 'firing' || row.state === 'firing'))
    await note(session, row, { ...evaluation, state })
}

/** Alerts in a SQL database that has been migrated. */
export function createAlertStore(database: Database, clock: Clock): AlertStore {
  return {
    async list(workspace_id, project_id) {
      const ofProject = project_id === undefined ? '' : ' AND project_id = ?'
      const sql = `SELECT ${COLUMNS} FROM alerts WHERE workspace_id = ?${ofProject} ORDER BY name, id LIMIT ?`
      const params = [workspace_id, ...(project_id === undefined ? [] : [project_id]), MAX_ALERTS]
      return (await database.query<AlertRow>(sql, params)).map(toAlert)
    },
    ...changing(database, clock),
    takeDue: (limit, every_ms) =>
      database.tx(TAKING, async (session) => {
        const now = clock.now()
        const due = await session.query<AlertRow>(
          `SELECT ${COLUMNS} FROM alerts WHERE is_enabled = 1 AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
          [now, limit],
        )
        const taken: Alert[] = []
        for (const row of due) {
          // A rule that is changed meanwhile is due at once, and is taken again.
          const rows = await session.query(
            `UPDATE alerts SET due_at = ? WHERE ${PLACE} AND version = ? RETURNING id`,
            [now + every_ms, row.workspace_id, row.id, row.version],
          )
          if (rows.length > 0) taken.push(toAlert(row))
        }
        return taken
      }),
    settle: (alert, evaluation) =>
      database.tx(alertsLock(alert.workspace_id), (session) => settle(session, alert, evaluation)),
    fail: (alert, fault, at) =>
      database.tx(alertsLock(alert.workspace_id), async (session) => {
        if ((await current(session, alert)) === undefined) return
        const values = [storableText(fault), at, alert.workspace_id, alert.id]
        await session.query(`UPDATE alerts SET fault = ?, evaluated_at = ? WHERE ${PLACE}`, values)
      }),
  }
}

/** Deletes the alerts of a project, or of a whole workspace, that is deleted, and resolves those that fire. */
export async function deleteAlertsOf(
  session: SqlSession,
  { workspace_id, project_id }: { workspace_id: string; project_id?: string },
  now: number,
): Promise<void> {
  const where = `workspace_id = ?${project_id === undefined ? '' : ' AND project_id = ?'}`
  const params = [workspace_id, ...(project_id === undefined ? [] : [project_id])]
  const rows = await session.query<AlertRow>(`SELECT ${COLUMNS} FROM alerts WHERE ${where}`, params)
  for (const row of rows) await resolve(session, row, 'deleted', now)
  await session.query(`DELETE FROM alerts WHERE ${where}`, params)
}
