import { AppError } from '../../../base/errors.ts'
import type { FeedbackToken, FeedbackTokenStore } from '../../../ingest/feedback/token-store.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Database } from '../driver/database.ts'

interface TokenRow extends Omit<FeedbackToken, 'feedback_config'> {
  feedback_config: string | null
}

const COLUMNS = 'workspace_id, id, run_id, feedback_key, feedback_config, expires_at, created_at'
/** Maximum number of valid tokens in a workspace. */
const MAX_TOKENS = 1_000_000

function toToken(row: TokenRow): FeedbackToken {
  const { feedback_config } = row
  return {
    ...row,
    feedback_config: feedback_config === null ? null : (JSON.parse(feedback_config) as JsonObject),
  }
}

/** Feedback tokens in a SQL database that has been migrated. Each insert deletes expired tokens. */
export function createFeedbackTokenStore(database: Database): FeedbackTokenStore {
  return {
    async add(tokens) {
      const [first] = tokens
      if (first === undefined) return
      const { workspace_id, created_at } = first
      await database.tx(`feedback-tokens:${workspace_id}`, async (session) => {
        await session.query('DELETE FROM feedback_tokens WHERE workspace_id = ? AND expires_at <= ?', [
          workspace_id,
          created_at,
        ])
        const [count] = await session.query<{ n: number }>(
          'SELECT count(*) AS n FROM feedback_tokens WHERE workspace_id = ?',
          [workspace_id],
        )
        if ((count?.n ?? 0) + tokens.length > MAX_TOKENS) throw new AppError('quota_reached')
        for (const token of tokens) {
          const { feedback_config } = token
          const made = await session.query(
            `INSERT INTO feedback_tokens (${COLUMNS}, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING RETURNING id`,
            [
              workspace_id,
              token.id,
              token.run_id,
              token.feedback_key,
              feedback_config === null ? null : JSON.stringify(feedback_config),
              token.expires_at,
              token.created_at,
              token.token_hash,
            ],
          )
          if (made.length === 0)
            throw new AppError('conflict', { message: 'A feedback token with this id exists already.' })
        }
      })
    },
    async list(workspace_id, run_id, { now, limit, offset }) {
      const rows = await database.query<TokenRow>(
        `SELECT ${COLUMNS} FROM feedback_tokens WHERE workspace_id = ? AND run_id = ? AND expires_at > ?
         ORDER BY created_at DESC, id LIMIT ? OFFSET ?`,
        [workspace_id, run_id, now, limit, offset],
      )
      return rows.map(toToken)
    },
    async find(token_hash, now) {
      const rows = await database.query<TokenRow>(
        `SELECT ${COLUMNS} FROM feedback_tokens WHERE token_hash = ? AND expires_at > ?`,
        [token_hash, now],
      )
      return rows.map(toToken)[0]
    },
  }
}
