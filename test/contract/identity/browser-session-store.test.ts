import { beforeEach, describe, expect, it } from 'vitest'
import {
  type BrowserSessionStore,
  MAX_OF_KEY,
  SESSION_IDLE_MS,
  SESSION_MAX_MS,
  TICKET_MS,
} from '../../../src/identity/browser-sessions.ts'
import type { IdentityStore } from '../../../src/identity/identity-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createBrowserSessionStore } from '../../../src/storage/sql/identity/browser-session-store.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { ACTOR, FIRST, KEY, MEMBER } from '../../support/stores/sql/identity-records.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const NOW = 1_000_000

describeOnSql('browser sessions', (engine) => {
  let database: Database
  let identity: IdentityStore
  let store: BrowserSessionStore
  beforeEach(async () => {
    database = await engine.openPlatform()
    identity = createIdentityStore(database)
    store = createBrowserSessionStore(database)
    await identity.createFirst(FIRST)
  })
  const start = (id: string, api_key_id = 'k1', now = NOW) =>
    store.start({ id, secret_hash: `hash ${id}`, api_key_id }, now)
  const count = async (table: string): Promise<number> =>
    Number((await database.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n)

  describe('IDENTITY-15: a session', () => {
    it('has the grant of its key, and is found only by its own secret', async () => {
      expect(await start('s1')).toEqual({
        id: 's1',
        api_key_id: 'k1',
        created_at: NOW,
        last_used_at: NOW,
        expires_at: NOW + SESSION_MAX_MS,
      })
      const found = await store.find('hash s1', NOW)
      expect(found?.session.id).toBe('s1')
      expect(found?.grant).toEqual((await identity.findKey('h1'))?.grant)
      expect(await store.find('hash s2', NOW)).toBeUndefined()
      expect(await start('s3', 'no such key')).toBeUndefined()
    })

    it('ends when it was not used for a week, and in any case after a month', async () => {
      await start('s1')
      expect(await store.find('hash s1', NOW + SESSION_IDLE_MS - 1)).toBeDefined()
      expect(await store.find('hash s1', NOW + SESSION_IDLE_MS)).toBeUndefined()
      for (let at = NOW; at < NOW + SESSION_MAX_MS; at += SESSION_IDLE_MS / 2) {
        expect(await store.find('hash s1', at)).toBeDefined()
        await store.touch('s1', at)
      }
      expect(await store.find('hash s1', NOW + SESSION_MAX_MS)).toBeUndefined()
    })

    it('records its use to the minute', async () => {
      await start('s1')
      const usedAt = async () => (await store.find('hash s1', NOW))?.session.last_used_at
      await store.touch('s1', NOW + 59_999)
      expect(await usedAt()).toBe(NOW)
      await store.touch('s1', NOW + 60_000)
      expect(await usedAt()).toBe(NOW + 60_000)
    })

    it('has its usual end when it began while the clock was ahead', async () => {
      const ahead = NOW + 400 * 24 * 3_600_000
      await start('s1', 'k1', ahead)
      await store.touch('s1', NOW)
      expect((await store.find('hash s1', NOW))?.session).toMatchObject({
        last_used_at: NOW,
        expires_at: NOW + SESSION_MAX_MS,
      })
      expect(await store.find('hash s1', NOW + SESSION_IDLE_MS)).toBeUndefined()
    })

    it('ends with its key: expired, revoked, or of a member who left', async () => {
      await identity.createKey({ ...KEY, id: 'k3', key_hash: 'h3', expires_at: NOW + 5 }, ACTOR)
      await start('expiring', 'k3')
      expect(await store.find('hash expiring', NOW + 4)).toMatchObject({ session: { expires_at: NOW + 5 } })
      expect(await store.find('hash expiring', NOW + 5)).toBeUndefined()
      expect(await start('late', 'k3', NOW + 5)).toBeUndefined()

      await identity.createKey({ ...KEY, short_key: 's4' }, ACTOR)
      await start('revoked', 'k2')
      await store.addTicket('ticket', 'k2', NOW)
      await identity.deleteKey('o1', 'service', 'k2', ACTOR)
      expect(await store.find('hash revoked', NOW)).toBeUndefined()
      expect(await store.takeTicket('ticket', NOW)).toBeUndefined()

      await identity.addMember(MEMBER, ACTOR)
      await identity.createKey({ ...KEY, id: 'k5', key_hash: 'h5', short_key: 's5', user_id: 'u2' }, ACTOR)
      await start('left', 'k5')
      expect(await store.find('hash left', NOW)).toBeDefined()
      await identity.removeMember('o1', 'u2', ACTOR)
      expect(await store.find('hash left', NOW)).toBeUndefined()
    })

    it('is ended once, by its secret', async () => {
      await start('s1')
      await start('s2')
      expect(await store.end('hash s1', NOW)).toBe('s1')
      expect(await store.end('hash s1', NOW)).toBeUndefined()
      expect(await store.find('hash s1', NOW)).toBeUndefined()
      expect(await store.find('hash s2', NOW)).toBeDefined()
    })

    it('is one of at most a hundred of its key: a new one ends the longest unused one', async () => {
      for (let at = 0; at < MAX_OF_KEY + 2; at++) await start(`s${at}`, 'k1', NOW + at)
      expect(await count('browser_sessions')).toBe(MAX_OF_KEY)
      const now = NOW + MAX_OF_KEY + 2
      expect(await store.find('hash s1', now)).toBeUndefined()
      expect(await store.find('hash s2', now)).toBeDefined()
    })
  })

  describe('IDENTITY-16: a ticket', () => {
    it('is used once, by one of many requests, within 15 minutes', async () => {
      expect(await store.addTicket('t1', 'k1', NOW)).toBe(true)
      expect(await store.addTicket('t2', 'k1', NOW)).toBe(true)
      expect(await store.addTicket('t3', 'no such key', NOW)).toBe(false)
      const another = createBrowserSessionStore(await engine.openAgain())
      const takers = [store, another, store, another]
      const taken = await Promise.all(takers.map((one) => one.takeTicket('t1', NOW + TICKET_MS - 1)))
      expect(taken.filter((key) => key === 'k1')).toHaveLength(1)
      expect(taken.filter((key) => key !== undefined)).toHaveLength(1)
      expect(await store.takeTicket('t2', NOW + TICKET_MS)).toBeUndefined()
      expect(await store.takeTicket('t3', NOW)).toBeUndefined()
    })

    it('is one of at most a hundred of its key; expired ones are removed', async () => {
      for (let at = 0; at <= MAX_OF_KEY; at++) await store.addTicket(`t${at}`, 'k1', NOW + at)
      expect(await count('sign_in_tickets')).toBe(MAX_OF_KEY)
      await store.addTicket('last', 'k1', NOW + TICKET_MS + MAX_OF_KEY)
      expect(await count('sign_in_tickets')).toBe(1)
    })
  })

  it('IDENTITY-12: sign-ins, sign-outs and tickets are in the audit, without their secrets', async () => {
    await store.addTicket('t1', 'k1', NOW)
    await start('s1')
    await store.end('hash s1', NOW + 1)
    const entries = await identity.audit('o1', { limit: 10 })
    expect(entries.map(({ action, subject_id, at }) => [action, subject_id, at])).toEqual([
      ['session.delete', 's1', NOW + 1],
      ['session.create', 's1', NOW],
      ['ticket.create', 'k1', NOW],
    ])
    expect(entries[0]).toMatchObject({ actor_api_key_id: 'k1', actor_user_id: 'u1' })
    expect(JSON.stringify(entries)).not.toMatch(/hash|t1/)
  })
})
