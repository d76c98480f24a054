import { AppError } from '../../../../base/errors.ts'
import { MAX_SCIM_TOKENS, type ScimToken, type ScimTokenStore } from '../../../../identity/scim/scim.ts'
import type { Database } from '../../driver/database.ts'
import { organizationLock, recordChange } from '../audit-log.ts'

const COLUMNS = 'id, organization_id, provider, description, created_at, expires_at, last_used_at'
/** Precision of `last_used_at`: it is written at most once in this time. */
const TOUCH_MS = 60_000

/** Tokens of SCIM in a SQL database that has been migrated. */
export function createScimTokenStore(database: Database): ScimTokenStore {
  return {
    async create(token, token_hash, actor) {
      const { id, organization_id, provider, description, created_at, expires_at } = token
      await database.tx(organizationLock(organization_id), async (session) => {
        await session.query('DELETE FROM scim_tokens WHERE expires_at <= ?', [created_at])
        const counted = 'SELECT count(*) AS held FROM scim_tokens WHERE organization_id = ?'
        const [row] = await session.query<{ held: number }>(counted, [organization_id])
        if (Number(row?.held) >= MAX_SCIM_TOKENS)
          throw new AppError('quota_reached', {
            message: `There are ${MAX_SCIM_TOKENS} tokens: delete some.`,
          })
        await session.query(
          `INSERT INTO scim_tokens (${COLUMNS}, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          [id, organization_id, provider, description, created_at, expires_at, null, token_hash],
        )
        const details = { provider, description, expires_at }
        const change = { organization_id, action: 'scim_token.create', subject_id: id, details }
        await recordChange(session, actor, change)
      })
    },
    list: (organization_id) =>
      database.query<ScimToken>(
        `SELECT ${COLUMNS} FROM scim_tokens WHERE organization_id = ? ORDER BY created_at, id`,
        [organization_id],
      ),
    remove: (organization_id, id, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const [gone] = await session.query<{ provider: string; description: string }>(
          'DELETE FROM scim_tokens WHERE organization_id = ? AND id = ? RETURNING provider, description',
          [organization_id, id],
        )
        if (gone === undefined) return false
        const change = { organization_id, action: 'scim_token.delete', subject_id: id, details: { ...gone } }
        await recordChange(session, actor, change)
        return true
      }),
    async find(token_hash, now) {
      const [token] = await database.query<ScimToken>(
        `SELECT ${COLUMNS} FROM scim_tokens WHERE token_hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
        [token_hash, now],
      )
      if (token !== undefined && (token.last_used_at ?? 0) <= now - TOUCH_MS)
        await database.query('UPDATE scim_tokens SET last_used_at = ? WHERE id = ?', [now, token.id])
      return token
    },
  }
}
