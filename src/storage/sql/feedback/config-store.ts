import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type {
  FeedbackConfig,
  FeedbackConfigFields,
  FeedbackConfigQuery,
  FeedbackConfigStore,
} from '../../../ingest/feedback/config-store.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Database, SqlSession, SqlValue } from '../driver/database.ts'

interface ConfigRow
  extends Omit<FeedbackConfig, 'feedback_config' | 'is_lower_score_better' | 'is_enforced'> {
  feedback_config: string
  is_lower_score_better: number | null
  is_enforced: number | null
}

const SELECT = `SELECT workspace_id, feedback_key, feedback_config, is_lower_score_better, is_enforced, modified_at
  FROM feedback_configs`
/** Maximum number of configs in a workspace. */
const MAX_CONFIGS = 10_000

function toConfig(row: ConfigRow): FeedbackConfig {
  const flag = (value: number | null): boolean | null => (value === null ? null : value !== 0)
  return {
    ...row,
    feedback_config: JSON.parse(row.feedback_config) as JsonObject,
    is_lower_score_better: flag(row.is_lower_score_better),
    is_enforced: flag(row.is_enforced),
  }
}

function toValues(fields: FeedbackConfigFields): SqlValue[] {
  const flag = (value: boolean | null): number | null => (value === null ? null : Number(value))
  return [
    JSON.stringify(fields.feedback_config),
    flag(fields.is_lower_score_better),
    flag(fields.is_enforced),
  ]
}

async function find(session: SqlSession, workspace_id: string, feedback_key: string) {
  const rows = await session.query<ConfigRow>(`${SELECT} WHERE workspace_id = ? AND feedback_key = ?`, [
    workspace_id,
    feedback_key,
  ])
  return rows.map(toConfig)[0]
}

/** Whether two configs mean the same: the order of members does not count, and null is the same as absent. */
function isSame(a: JsonObject, b: JsonObject): boolean {
  return isDeepStrictEqual(givenIn(a), givenIn(b))
}

function givenIn(config: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
}

async function list(
  session: SqlSession,
  workspace_id: string,
  { keys, name_contains, limit, offset }: FeedbackConfigQuery,
): Promise<FeedbackConfig[]> {
  const conditions = ['workspace_id = ?']
  const params: SqlValue[] = [workspace_id]
  if (keys.length > 0) {
    conditions.push(`feedback_key IN (${keys.map(() => '?').join(', ')})`)
    params.push(...keys)
  }
  if (name_contains !== undefined) {
    conditions.push(`lower(feedback_key) LIKE lower(?) ESCAPE '!'`)
    params.push(`%${name_contains.replace(/[!%_]/g, '!$&')}%`)
  }
  const rows = await session.query<ConfigRow>(
    `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY feedback_key LIMIT ? OFFSET ?`,
    [...params, limit, offset],
  )
  return rows.map(toConfig)
}

/** Feedback configs in a SQL database that has been migrated. */
export function createFeedbackConfigStore(database: Database, clock: Clock): FeedbackConfigStore {
  const lockOf = (workspace_id: string): string => `feedback-configs:${workspace_id}`
  return {
    list: (workspace_id, query) => list(database, workspace_id, query),
    create: (workspace_id, feedback_key, fields) =>
      database.tx(lockOf(workspace_id), async (session) => {
        const known = await find(session, workspace_id, feedback_key)
        if (known !== undefined) {
          if (isSame(known.feedback_config, fields.feedback_config)) return known
          throw new AppError('conflict', { message: 'Another feedback config with this key exists.' })
        }
        const [count] = await session.query<{ n: number }>(
          'SELECT count(*) AS n FROM feedback_configs WHERE workspace_id = ?',
          [workspace_id],
        )
        if ((count?.n ?? 0) >= MAX_CONFIGS) throw new AppError('quota_reached')
        const config = { ...fields, workspace_id, feedback_key, modified_at: clock.now() }
        await session.query(
          `INSERT INTO feedback_configs (feedback_config, is_lower_score_better, is_enforced, workspace_id,
             feedback_key, modified_at) VALUES (?, ?, ?, ?, ?, ?)`,
          [...toValues(fields), workspace_id, feedback_key, config.modified_at],
        )
        return config
      }),
    update: (workspace_id, feedback_key, change) =>
      database.tx(lockOf(workspace_id), async (session) => {
        const known = await find(session, workspace_id, feedback_key)
        if (known === undefined) return undefined
        const config = { ...known, ...change(known), modified_at: clock.now() }
        await session.query(
          `UPDATE feedback_configs SET feedback_config = ?, is_lower_score_better = ?, is_enforced = ?, modified_at = ?
           WHERE workspace_id = ? AND feedback_key = ?`,
          [...toValues(config), config.modified_at, workspace_id, feedback_key],
        )
        return config
      }),
    async delete(workspace_id, feedback_key) {
      const rows = await database.query(
        'DELETE FROM feedback_configs WHERE workspace_id = ? AND feedback_key = ? RETURNING feedback_key',
        [workspace_id, feedback_key],
      )
      return rows.length > 0
    },
  }
}
