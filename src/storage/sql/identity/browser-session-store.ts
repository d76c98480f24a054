import {
  type BrowserSession,
  type BrowserSessionStore,
  type ListedSession,
  sessionEnd,
  MAX_OF_KEY,
  SESSION_MAX_MS,
  TICKET_MS,
} from '../../../identity/browser-sessions.ts'
import type { KeyGrant } from '../../../identity/principal.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { findGrant } from './api-key-store.ts'
import { organizationLock, recordChange } from './audit-log.ts'

const COLUMNS = 'id, api_key_id, created_at, last_used_at, expires_at'
/** Precision of `last_used_at`: it is written at most once in this time. */
const TOUCH_MS = 60_000

/** Removes expired sessions, and the oldest ones of a key until there is room for one more. */
async function makeRoom(
  session: SqlSession,
  table: 'browser_sessions' | 'sign_in_tickets',
  { api_key_id, now }: { api_key_id: string; now: number },
): Promise<void> {
  const age = table === 'browser_sessions' ? 'last_used_at' : 'created_at'
  await session.query(`DELETE FROM ${table} WHERE expires_at <= ?`, [now])
  await session.query(
    `DELETE FROM ${table} WHERE secret_hash IN
       (SELECT secret_hash FROM ${table} WHERE api_key_id = ? ORDER BY ${age} DESC LIMIT 1000 OFFSET ?)`,
    [api_key_id, MAX_OF_KEY - 1],
  )
}

/** Runs `act` for a valid key, in a transaction during which the key cannot be deleted. */
async function forKey<T>(
  database: Database,
  { api_key_id, now }: { api_key_id: string; now: number },
  act: (session: SqlSession, grant: KeyGrant) => Promise<T>,
): Promise<T | undefined> {
  const known = await findGrant(database, api_key_id)
  if (known === undefined) return undefined
  return await database.tx(organizationLock(known.organization_id), async (session) => {
    const grant = await findGrant(session, api_key_id)
    if (grant === undefined || (grant.expires_at ?? Infinity) <= now) return undefined
    return await act(session, grant)
  })
}

async function record(
  session: SqlSession,
  grant: KeyGrant,
  { at, ...change }: { action: string; subject_id: string; at: number },
): Promise<void> {
  const { organization_id, api_key_id, short_key, user_id } = grant
  const actor = { api_key_id, short_key, user_id, at }
  await recordChange(session, actor, { organization_id, ...change, details: { short_key } })
}

function ticketStore(database: Database): Pick<BrowserSessionStore, 'addTicket' | 'takeTicket'> {
  return {
    async addTicket(secret_hash, api_key_id, now) {
      const added = await forKey(database, { api_key_id, now }, async (session, grant) => {
        await makeRoom(session, 'sign_in_tickets', { api_key_id, now })
        await session.query(
          'INSERT INTO sign_in_tickets (secret_hash, api_key_id, created_at, expires_at) VALUES (?, ?, ?, ?)',
          [secret_hash, api_key_id, now, now + TICKET_MS],
        )
        await record(session, grant, { action: 'ticket.create', subject_id: api_key_id, at: now })
        return true
      })
      return added === true
    },
    async takeTicket(secret_hash, now) {
      const [taken] = await database.query<{ api_key_id: string; expires_at: number }>(
        'DELETE FROM sign_in_tickets WHERE secret_hash = ? RETURNING api_key_id, expires_at',
        [secret_hash],
      )
      return taken !== undefined && taken.expires_at > now ? taken.api_key_id : undefined
    },
  }
}

interface ListedRow extends ListedSession {
  key_expires_at: number | null
}

const SELECT_LISTED = `SELECT s.id, k.user_id, s.api_key_id, k.short_key, NULL AS provider, s.created_at, s.last_used_at,
    s.expires_at, k.expires_at AS key_expires_at
  FROM browser_sessions s JOIN api_keys k ON k.id = s.api_key_id WHERE k.organization_id = ? AND k.deleted_at IS NULL
  UNION ALL SELECT id, user_id, NULL, NULL, provider, created_at, last_used_at, expires_at, NULL
  FROM member_sessions WHERE organization_id = ?`

/** Sessions as people see them: those of keys and those of members. */
function listedSessions(database: Database): Pick<BrowserSessionStore, 'list' | 'endListed'> {
  return {
    async list(organization_id, now) {
      const rows = await database.query<ListedRow>(SELECT_LISTED, [organization_id, organization_id])
      return rows
        .map(({ key_expires_at, ...row }) => ({ ...row, expires_at: sessionEnd(row, key_expires_at) }))
        .filter(({ expires_at }) => expires_at > now)
        .toSorted((a, b) => b.last_used_at - a.last_used_at)
    },
    endListed: (organization_id, id, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const own = 'SELECT id FROM api_keys WHERE organization_id = ?'
        const ended = [
          ...(await session.query<{ owner: string }>(
            `DELETE FROM browser_sessions WHERE id = ? AND api_key_id IN (${own}) RETURNING api_key_id AS owner`,
            [id, organization_id],
          )),
          ...(await session.query<{ owner: string }>(
            'DELETE FROM member_sessions WHERE id = ? AND organization_id = ? RETURNING user_id AS owner',
            [id, organization_id],
          )),
        ]
        if (ended[0] === undefined) return false
        const details = { owner: ended[0].owner, reason: 'ended' }
        await recordChange(session, actor, {
          organization_id,
          action: 'session.delete',
          subject_id: id,
          details,
        })
        return true
      }),
  }
}

/** Browser sessions and tickets in a SQL database that has been migrated. */
export function createBrowserSessionStore(database: Database): BrowserSessionStore {
  return {
    ...ticketStore(database),
    ...listedSessions(database),
    start: ({ id, secret_hash, api_key_id }, now) =>
      forKey(database, { api_key_id, now }, async (session, grant) => {
        await makeRoom(session, 'browser_sessions', { api_key_id, now })
        const expires_at = Math.min(now + SESSION_MAX_MS, grant.expires_at ?? Infinity)
        await session.query(
          `INSERT INTO browser_sessions (${COLUMNS}, secret_hash) VALUES (?, ?, ?, ?, ?, ?)`,
          [id, api_key_id, now, now, expires_at, secret_hash],
        )
        await record(session, grant, { action: 'session.create', subject_id: id, at: now })
        return { id, api_key_id, created_at: now, last_used_at: now, expires_at }
      }),
    async find(secret_hash, now) {
      const [session] = await database.query<BrowserSession>(
        `SELECT ${COLUMNS} FROM browser_sessions WHERE secret_hash = ?`,
        [secret_hash],
      )
      const grant = session && (await findGrant(database, session.api_key_id))
      if (session === undefined || grant === undefined) return undefined
      return sessionEnd(session, grant.expires_at) > now ? { session, grant } : undefined
    },
    async touch(id, now) {
      // A session that was created while the clock was ahead would last too long. So every session ends at most
      // SESSION_MAX_MS from now.
      const latest = now + SESSION_MAX_MS
      await database.query(
        `UPDATE browser_sessions SET last_used_at = ?, expires_at = CASE WHEN expires_at > ? THEN ? ELSE expires_at END
          WHERE id = ? AND (last_used_at <= ? OR last_used_at > ?)`,
        [now, latest, latest, id, now - TOUCH_MS, now + TOUCH_MS],
      )
    },
    async end(secret_hash, now) {
      const [found] = await database.query<{ id: string; api_key_id: string }>(
        'SELECT id, api_key_id FROM browser_sessions WHERE secret_hash = ?',
        [secret_hash],
      )
      if (found === undefined) return undefined
      const { id, api_key_id } = found
      const remove = async (session: SqlSession): Promise<boolean> => {
        const sql = 'DELETE FROM browser_sessions WHERE secret_hash = ? RETURNING id'
        return (await session.query(sql, [secret_hash])).length > 0
      }
      const ended = await forKey(database, { api_key_id, now }, async (session, grant) => {
        const isEnded = await remove(session)
        if (isEnded) await record(session, grant, { action: 'session.delete', subject_id: id, at: now })
        return isEnded
      })
      return (ended ?? (await remove(database))) ? id : undefined
    },
  }
}
