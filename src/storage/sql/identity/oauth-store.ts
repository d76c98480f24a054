import {
  ACCESS_MS,
  CLIENT_MS,
  CODE_MS,
  type Consent,
  hashToken,
  type KeyRef,
  MAX_CLIENTS,
  MAX_CONSENT_TOKENS,
  type OauthClient,
  type OauthStore,
  REFRESH_MS,
  type TokenPair,
} from '../../../identity/oauth.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { findGrant } from './api-key-store.ts'
import { organizationLock } from './audit-log.ts'

/** Time for which a used code is kept, so that its second use is noticed. */
const USED_CODE_MS = 10 * CODE_MS

interface TokenRow {
  kind: 'access' | 'refresh'
  api_key_id: string
  client_id: string
  resource: string
  expires_at: number
  ends_at: number | null
  made_with: string | null
  replaced: number
}

type Family = Pick<TokenRow, 'api_key_id' | 'client_id' | 'resource' | 'ends_at' | 'made_with'>

/** Stores a pair of tokens. The key lives as long as its refresh token. */
async function addTokens(session: SqlSession, family: Family, tokens: TokenPair, now: number): Promise<void> {
  const { api_key_id, client_id, resource, ends_at, made_with } = family
  const latest = ends_at ?? Infinity
  const until = { access: Math.min(now + ACCESS_MS, latest), refresh: Math.min(now + REFRESH_MS, latest) }
  for (const kind of ['access', 'refresh'] as const)
    await session.query(
      `INSERT INTO oauth_tokens (token_hash, kind, api_key_id, client_id, resource, expires_at, ends_at, made_with, replaced)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)`,
      [hashToken(tokens[kind]), kind, api_key_id, client_id, resource, until[kind], ends_at, made_with],
    )
  await session.query('UPDATE api_keys SET expires_at = ? WHERE id = ?', [until.refresh, api_key_id])
  await session.query('UPDATE oauth_clients SET last_used_at = ? WHERE id = ?', [now, client_id])
  await session.query('DELETE FROM oauth_tokens WHERE expires_at <= ?', [now])
}

/** Whether the consent has as many tokens as one may have. */
async function isFull(session: SqlSession, { api_key_id }: Family): Promise<boolean> {
  const sql = 'SELECT count(*) AS held FROM oauth_tokens WHERE api_key_id = ?'
  const [row] = await session.query<{ held: number }>(sql, [api_key_id])
  return Number(row?.held) >= MAX_CONSENT_TOKENS
}

async function keyRef(session: SqlSession, id: string): Promise<KeyRef | undefined> {
  const sql =
    'SELECT id, organization_id, short_key, user_id FROM api_keys WHERE id = ? AND deleted_at IS NULL'
  return (await session.query<KeyRef>(sql, [id]))[0]
}

async function tokenRow(session: SqlSession, token_hash: string): Promise<TokenRow | undefined> {
  const sql = `SELECT kind, api_key_id, client_id, resource, expires_at, ends_at, made_with, replaced FROM oauth_tokens
    WHERE token_hash = ?`
  return (await session.query<TokenRow>(sql, [token_hash]))[0]
}

/** Deletes the oldest clients that nobody has allowed, so that a flood of them keeps no other out; false without one. */
async function makeRoom(session: SqlSession): Promise<boolean> {
  const gone = await session.query(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE last_used_at = created_at
       ORDER BY created_at LIMIT ${MAX_CLIENTS / 10}) RETURNING id`,
  )
  return gone.length > 0
}

function clientStore(database: Database): Pick<OauthStore, 'addClient' | 'client'> {
  return {
    addClient: ({ id, name, redirect_uris, created_at }) =>
      database.tx('oauth:clients', async (session) => {
        await session.query('DELETE FROM oauth_clients WHERE last_used_at <= ?', [created_at - CLIENT_MS])
        const [all] = await session.query<{ count: number }>('SELECT count(*) AS count FROM oauth_clients')
        if (Number(all?.count) >= MAX_CLIENTS && !(await makeRoom(session))) return false
        await session.query(
          'INSERT INTO oauth_clients (id, name, redirect_uris, created_at, last_used_at) VALUES (?, ?, ?, ?, ?)',
          [id, name, JSON.stringify(redirect_uris), created_at, created_at],
        )
        return true
      }),
    async client(id, now) {
      const [row] = await database.query<Omit<OauthClient, 'redirect_uris'> & { redirect_uris: string }>(
        'SELECT id, name, redirect_uris, created_at FROM oauth_clients WHERE id = ? AND last_used_at > ?',
        [id, now - CLIENT_MS],
      )
      return row && { ...row, redirect_uris: JSON.parse(row.redirect_uris) as string[] }
    },
  }
}

/** Clients, codes and tokens of OAuth in a SQL database that has been migrated. */
export function createOauthStore(database: Database): OauthStore {
  return {
    ...clientStore(database),
    async addCode(code_hash, consent, now) {
      await database.query('DELETE FROM oauth_codes WHERE expires_at <= ?', [now - USED_CODE_MS])
      await database.query('INSERT INTO oauth_codes (code_hash, consent, expires_at) VALUES (?, ?, ?)', [
        code_hash,
        JSON.stringify(consent),
        now + CODE_MS,
      ])
    },
    async takeCode(code_hash, now) {
      const [taken] = await database.query<{ consent: string }>(
        'UPDATE oauth_codes SET used = 1 WHERE code_hash = ? AND used = 0 AND expires_at > ? RETURNING consent',
        [code_hash, now],
      )
      if (taken !== undefined) return JSON.parse(taken.consent) as Consent
      const [row] = await database.query<{ consent: string }>(
        'SELECT consent FROM oauth_codes WHERE code_hash = ? AND used = 1',
        [code_hash],
      )
      return row && { reused: await keyRef(database, (JSON.parse(row.consent) as Consent).key.id) }
    },
    start: ({ key, actor, client_id, resource, ends_at }, tokens, now) => {
      const made_with = key.user_id === null ? actor.api_key_id : null
      // The lock under which keys are deleted.
      return database.tx(organizationLock(key.organization_id), async (session) => {
        if (made_with !== null && (await keyRef(session, made_with)) === undefined) return false
        await addTokens(session, { api_key_id: key.id, client_id, resource, ends_at, made_with }, tokens, now)
        return true
      })
    },
    async rotate(refresh_hash, { client_id, resource }, tokens, now) {
      const known = await tokenRow(database, refresh_hash)
      if (known === undefined) return undefined
      return await database.tx(`oauth:${known.api_key_id}`, async (session) => {
        const row = await tokenRow(session, refresh_hash)
        if (row === undefined || row.kind !== 'refresh' || row.client_id !== client_id) return undefined
        if (row.expires_at <= now || (resource !== undefined && resource !== row.resource)) return undefined
        const key = await keyRef(session, row.api_key_id)
        if (key === undefined) return undefined
        if (row.replaced === 1) return { reused: key }
        if (await isFull(session, row)) return undefined
        await session.query('UPDATE oauth_tokens SET replaced = 1 WHERE token_hash = ?', [refresh_hash])
        await addTokens(session, row, tokens, now)
        return { resource: row.resource }
      })
    },
    async access(token_hash, now) {
      const row = await tokenRow(database, token_hash)
      if (row === undefined || row.kind !== 'access' || row.expires_at <= now) return undefined
      const grant = await findGrant(database, row.api_key_id)
      if (grant === undefined) return undefined
      const expires_at = Math.min(row.expires_at, grant.expires_at ?? Infinity)
      return { grant: { ...grant, expires_at }, resource: row.resource }
    },
    async keyOf(token_hash) {
      const row = await tokenRow(database, token_hash)
      return row && (await keyRef(database, row.api_key_id))
    },
  }
}
