import { MAX_OF_KEY, sessionEnd } from '../../../identity/browser-sessions.ts'
import type { MemberSession, NewSession, SignInStore } from '../../../identity/oidc/sign-in-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { findMemberGrant } from './api-key-store.ts'
import { organizationLock, recordChange } from './audit-log.ts'

const COLUMNS =
  'id, organization_id, user_id, provider, tokens, checked_at, created_at, last_used_at, expires_at'

/** Precision of `last_used_at`: it is written at most once in this time. */
const TOUCH_MS = 60_000

/** Starts a session of a member; the oldest ones are removed until there is room for it. */
export async function startMemberSession(
  session: SqlSession,
  { id, secret_hash, tokens, expires_at }: NewSession,
  {
    organization_id,
    user_id,
    provider,
    now,
  }: { organization_id: string; user_id: string; provider: string; now: number },
): Promise<void> {
  await session.query('DELETE FROM member_sessions WHERE expires_at <= ?', [now])
  await session.query(
    `DELETE FROM member_sessions WHERE id IN (SELECT id FROM member_sessions
       WHERE organization_id = ? AND user_id = ? ORDER BY last_used_at DESC LIMIT 1000 OFFSET ?)`,
    [organization_id, user_id, MAX_OF_KEY - 1],
  )
  await session.query(
    `INSERT INTO member_sessions (${COLUMNS}, secret_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, organization_id, user_id, provider, tokens, now, now, now, expires_at, secret_hash],
  )
}

/** The sessions of members, who signed in at a provider. */
export function memberSessionStore(
  database: Database,
): Omit<SignInStore, 'addAttempt' | 'takeAttempt' | 'enter' | 'recordRefusal'> {
  return {
    async findSession(secret_hash, now) {
      const [row] = await database.query<Omit<MemberSession, 'api_key_id'>>(
        `SELECT ${COLUMNS} FROM member_sessions WHERE secret_hash = ?`,
        [secret_hash],
      )
      if (row === undefined || sessionEnd(row, null) <= now) return undefined
      const grant = await findMemberGrant(database, row.organization_id, row.user_id)
      return grant && { session: { ...row, api_key_id: row.user_id }, grant }
    },
    async takeTurn({ id, checked_at }, now) {
      const taken = await database.query(
        'UPDATE member_sessions SET checked_at = ? WHERE id = ? AND checked_at = ? RETURNING id',
        [now, id, checked_at],
      )
      return taken.length > 0
    },
    async keepTokens(session_id, tokens) {
      await database.query('UPDATE member_sessions SET tokens = ? WHERE id = ?', [tokens, session_id])
    },
    async touchSession(id, now) {
      // A session that began while the clock was ahead began now, and is confirmed as late after this moment as others.
      const isAhead = 'CASE WHEN created_at > ?'
      await database.query(
        `UPDATE member_sessions SET last_used_at = ?, created_at = ${isAhead} THEN ? ELSE created_at END,
           expires_at = ${isAhead} THEN expires_at - created_at + ? ELSE expires_at END,
           checked_at = CASE WHEN checked_at > ? THEN ? ELSE checked_at END
         WHERE id = ? AND (last_used_at <= ? OR last_used_at > ?)`,
        [now, now, now, now, now, now, now, id, now - TOUCH_MS, now + TOUCH_MS],
      )
    },
    async endSession({ id, organization_id, user_id }, reason, now) {
      await database.tx(organizationLock(organization_id), async (session) => {
        const sql = 'DELETE FROM member_sessions WHERE id = ? RETURNING id'
        if ((await session.query(sql, [id])).length === 0) return
        const actor = { api_key_id: user_id, short_key: '', user_id, at: now }
        const change = { organization_id, action: 'session.delete', subject_id: id, details: { reason } }
        await recordChange(session, actor, change)
      })
    },
  }
}
