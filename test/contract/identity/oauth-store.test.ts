import { expect, it } from 'vitest'
import {
  CLIENT_MS,
  hashToken,
  MAX_CLIENTS,
  MAX_CONSENT_TOKENS,
  newToken,
} from '../../../src/identity/oauth.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { createOauthStore } from '../../../src/storage/sql/identity/oauth-store.ts'
import { FIRST } from '../../support/stores/sql/identity-records.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const NOW = 1_000_000

describeOnSql('clients of OAuth', (engine) => {
  it('OAU-3: when there are too many, those that nobody has allowed make room, the oldest first', async () => {
    const database = await engine.openPlatform()
    const store = createOauthStore(database)
    const client = (id: string) => ({ id, name: 'c', redirect_uris: [], created_at: NOW })
    await database.query(
      `INSERT INTO oauth_clients (id, name, redirect_uris, created_at, last_used_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_CLIENTS})
         SELECT 'c' || i, 'c', '[]', ${NOW} + i, ${NOW} + i + CASE WHEN i = 1 THEN 5 ELSE 0 END FROM n`,
    )
    expect(await store.addClient(client('new'))).toBe(true)
    const known = await Promise.all(['c1', 'c2', `c${MAX_CLIENTS}`, 'new'].map((id) => store.client(id, NOW)))
    expect(known.map((one) => one?.id)).toEqual(['c1', undefined, `c${MAX_CLIENTS}`, 'new'])
  })

  it('OAU-3: a client that is unused for 30 days is gone, before another one registers', async () => {
    const database = await engine.openPlatform()
    const store = createOauthStore(database)
    await store.addClient({ id: 'c', name: 'c', redirect_uris: [], created_at: NOW })
    expect((await store.client('c', NOW + CLIENT_MS - 1))?.id).toBe('c')
    expect(await store.client('c', NOW + CLIENT_MS)).toBeUndefined()
  })

  it('OAU-5: a consent has a bounded number of tokens', async () => {
    const database = await engine.openPlatform()
    await createIdentityStore(database).createFirst(FIRST)
    const store = createOauthStore(database)
    const pair = () => ({ access: newToken('access'), refresh: newToken('refresh') })
    const rotate = (token: string) =>
      store.rotate(hashToken(token), { client_id: 'c', resource: undefined }, pair(), NOW)
    const [first, last] = [pair(), pair()]
    const { id } = FIRST.key
    const key = { id, user_id: FIRST.user.id, organization_id: FIRST.organization.id }
    const consent = { key, actor: {}, client_id: 'c', resource: '/mcp', ends_at: null } as never
    await store.start(consent, first, NOW)
    await store.start(consent, last, NOW)
    expect(await rotate(first.refresh)).toEqual({ resource: '/mcp' })
    await database.query(
      `INSERT INTO oauth_tokens (token_hash, kind, api_key_id, client_id, resource, expires_at, replaced)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_CONSENT_TOKENS})
         SELECT 't' || i, 'refresh', ?, 'c', '/mcp', ${NOW + 1000}, 1 FROM n`,
      [id],
    )
    expect(await rotate(last.refresh)).toBeUndefined()
    expect(await rotate(first.refresh)).toMatchObject({ reused: { id } })
  })
})
