import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { Sweep, Sweeps } from '../../../src/base/background/sweeps.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { threadSweep } from '../../../src/runs/threads/sweeper.ts'
import { startAuditRetention } from '../../../src/start/identity/audit-retention.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createSqlEventStore } from '../../../src/storage/sql/events/event-store.ts'
import { createKvStore } from '../../../src/storage/sql/items/kv-store.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { createWebhookStore } from '../../../src/storage/sql/runs/webhook-store.ts'
import { recordChange } from '../../../src/storage/sql/identity/audit-log.ts'
import { createInviteStore } from '../../../src/storage/sql/identity/invite-store.ts'
import { createOauthStore } from '../../../src/storage/sql/identity/oauth-store.ts'
import { createSignInStore } from '../../../src/storage/sql/identity/sign-in-store.ts'
import { createFeedbackTokenStore } from '../../../src/storage/sql/feedback/token-store.ts'
import { createBrowserSessionStore } from '../../../src/storage/sql/identity/browser-session-store.ts'
import { createDeletionStore } from '../../../src/storage/sql/deletion/deletion-store.ts'
import { createDeploymentLogStore } from '../../../src/storage/sql/deployments/log-store.ts'
import { createUploadStore } from '../../../src/storage/sql/deployments/upload-store.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { eventually } from '../../support/eventually.ts'
import { ACTOR, FIRST } from '../../support/stores/sql/identity-records.ts'
import { createMemoryEventLog } from '../../support/runs/streams/memory-event-store.ts'
import { admissionOf, admitted, CLAIMER, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The clock with which the records were written that must go. */
const yesterday = testClock(() => systemClock.now() - 24 * HOUR)
const BOUNDS = { events: 1000, chars: 1e6, age_ms: HOUR, total_chars: 1e9 }

describeOnSql('with the clock of the system', (engine) => {
  let database: Database
  beforeEach(async () => {
    database = await engine.openRuns()
  })
  const count = async (table: string): Promise<number> =>
    Number((await database.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n)

  it('expired items go', async () => {
    const options = { default_ttl: 1, refresh_on_read: false }
    await createKvStore(database, yesterday, options).put(TENANT, { namespace: ['a'], key: 'old', value: {} })
    const items = createKvStore(database, systemClock, options)
    await items.put(TENANT, { namespace: ['a'], key: 'new', value: {} })
    expect([await items.sweep(10), await count('store_items')]).toEqual([1, 1])
  })

  it('expired threads go, and webhooks without runs', async () => {
    const ttl = { strategy: 'delete', ttl_minutes: 60 } as const
    const newThread = () => ({ thread_id: randomUUID(), metadata: {}, config: {}, ttl })
    await createRunStore(database, yesterday).createThread(TENANT, newThread())
    const store = createRunStore(database, systemClock)
    await store.createThread(TENANT, newThread())
    await database.query(
      `INSERT INTO webhooks (run_id, deployment_id, workspace_id, due_at, tries, url, run)
        VALUES ('r', 'd', 'w', NULL, 0, 'https://example.com', '{}')`,
    )
    const threads = threadSweep({ store, events: createMemoryEventLog(systemClock), everyMs: HOUR })
    expect(await threads.work(new AbortController().signal)).toBe(1)
    expect(await createWebhookStore(database, systemClock).sweep()).toBe(1)
    expect([await count('threads'), await count('webhooks')]).toEqual([1, 0])
  })

  it('the ends of stateless runs go after ten minutes', async () => {
    const now = systemClock.now()
    const ends = { old: now - 11 * MINUTE, new: now - 9 * MINUTE }
    for (const [run_id, ended_at] of Object.entries(ends))
      await database.query(
        `INSERT INTO stateless_ends (run_id, deployment_id, workspace_id, thread_id, created_at, ended_at, status, caller,
          metadata) VALUES (?, 'd', 'w', 't', 1, ?, 'success', '{}', '{}')`,
        [run_id, ended_at],
      )
    await createRunStore(database, systemClock).forgetStatelessEnds()
    expect(await database.query('SELECT run_id FROM stateless_ends')).toEqual([{ run_id: 'new' }])
  })

  it('old events go, and the logs of deleted threads', async () => {
    const newThread = () => ({ ...TENANT, thread_id: randomUUID() })
    const [old, retired, kept] = [newThread(), newThread(), newThread()]
    const items = [{ run_id: null, event: 'e', data: '1' }]
    const before = createSqlEventStore({ database, clock: yesterday, bounds: BOUNDS })
    await before.append([{ thread: old, lease: null, items }])
    const store = createSqlEventStore({ database, clock: systemClock, bounds: BOUNDS })
    for (const thread of [retired, kept]) await store.append([{ thread, lease: null, items }])
    await database.query('UPDATE event_logs SET retired_at = ? WHERE thread_id = ?', [
      yesterday.now(),
      retired.thread_id,
    ])
    await store.trim(null)
    expect(await database.query('SELECT thread_id FROM event_chunks')).toEqual([
      { thread_id: kept.thread_id },
    ])
  })

  it('runs and webhooks that are due are taken, and a webhook again when its lease has ended', async () => {
    const before = createRunStore(database, yesterday)
    await admitted(before, admissionOf(randomUUID()))
    const store = createRunStore(database, systemClock)
    expect(await store.claim(CLAIMER, [TENANT.deployment_id], 10)).toHaveLength(1)
    await database.query(
      `INSERT INTO webhooks (run_id, deployment_id, workspace_id, due_at, tries, url, run)
        VALUES ('r', ?, ?, ?, 0, 'https://example.com', '{}')`,
      [TENANT.deployment_id, TENANT.workspace_id, yesterday.now()],
    )
    const webhooks = createWebhookStore(database, systemClock)
    const lease = { owner: 'me', lease_ms: 1 }
    expect(await webhooks.take([TENANT.deployment_id], 10, lease)).toHaveLength(1)
    await eventually(async () =>
      expect(await webhooks.take([TENANT.deployment_id], 10, lease)).toHaveLength(1),
    )
  })
})

describeOnSql('with the clock of the system, of identity and deployments', (engine) => {
  let database: Database
  beforeEach(async () => {
    database = await engine.openPlatform()
  })
  const ids = async (table: string, column: string): Promise<unknown[]> =>
    (await database.query<Record<string, unknown>>(`SELECT ${column} FROM ${table}`)).map(
      (row) => row[column],
    )

  it('expired sessions and tickets go when further ones are made, and cannot be used before', async () => {
    await createIdentityStore(database).createFirst(FIRST)
    const store = createBrowserSessionStore(database)
    const [now, long] = [systemClock.now(), systemClock.now() - 60 * DAY]
    await store.start({ id: 'old', secret_hash: 'old', api_key_id: 'k1' }, long)
    await store.addTicket('old', 'k1', long)
    expect([await store.find('old', now), await store.takeTicket('other', now)]).toEqual([
      undefined,
      undefined,
    ])
    await store.start({ id: 'new', secret_hash: 'new', api_key_id: 'k1' }, now)
    await store.addTicket('new', 'k1', now)
    expect(await ids('browser_sessions', 'id')).toEqual(['new'])
    expect(await ids('sign_in_tickets', 'secret_hash')).toEqual(['new'])
  })

  it('expired invitations, and attempts and sessions of people, go when further ones are made', async () => {
    await createIdentityStore(database).createFirst(FIRST)
    const signIns = createSignInStore(database)
    const invites = createInviteStore(database)
    const make = async (id: string, now: number): Promise<void> => {
      const attempt = { provider: 'p', state: 's', nonce: 'n', code_verifier: 'v', return_to: '/app/' }
      await signIns.addAttempt(id, attempt, now)
      const person = { issuer: 'https://id.test', subject: id, email: undefined, email_verified: false }
      const arrival = {
        person: { ...person, name: id, groups: [] },
        verified_email: undefined,
        provider: 'p',
      }
      const session = { id, secret_hash: id, tokens: '', expires_at: now + DAY, address: '::1' }
      const admission = { rights: { role: 'user' as const, workspace_ids: null }, by_groups: false }
      await signIns.enter(arrival, () => admission, { organization_id: 'o1', now, session })
      const rights = { organization_id: 'o1', email: null, role: 'user' as const, workspace_ids: null }
      const times = { created_by: 'u1', created_at: now, expires_at: now + DAY, key_expires_at: null }
      await invites.create({ id, ...rights, ...times }, id, ACTOR)
    }
    const now = systemClock.now()
    await make('old', now - 2 * DAY)
    expect([await signIns.findSession('old', now), await invites.find('old', now)]).toEqual([
      undefined,
      undefined,
    ])
    await make('new', now)
    expect(await ids('sign_in_attempts', 'secret_hash')).toEqual(['new'])
    expect(await ids('member_sessions', 'id')).toEqual(['new'])
    expect(await ids('invites', 'id')).toEqual(['new'])
  })

  it('expired clients, codes and tokens of OAuth, and tokens for feedback, go when further ones are made', async () => {
    await createIdentityStore(database).createFirst(FIRST)
    const oauth = createOauthStore(database)
    const feedback = createFeedbackTokenStore(database)
    const make = async (id: string, now: number): Promise<void> => {
      await oauth.addClient({ id, name: id, redirect_uris: [], created_at: now })
      const consent = { key: { id: 'k1' }, client_id: id, resource: '/mcp', ends_at: null } as never
      await oauth.addCode(id, consent, now)
      await oauth.start(consent, { access: `${id} access`, refresh: `${id} refresh` }, now)
      const token = { id, run_id: 'r', feedback_key: 'k', feedback_config: null, token_hash: id }
      await feedback.add([{ ...token, workspace_id: 'w', created_at: now, expires_at: now + DAY }])
    }
    const now = systemClock.now()
    await make('old', now - 60 * DAY)
    expect([await oauth.takeCode('old', now), await feedback.find('old', now)]).toEqual([
      undefined,
      undefined,
    ])
    await make('new', now)
    expect(await ids('oauth_clients', 'id')).toEqual(['new'])
    expect(await ids('oauth_codes', 'code_hash')).toEqual(['new'])
    expect(await ids('oauth_tokens', 'client_id')).toEqual(['new', 'new'])
    expect(await ids('feedback_tokens', 'id')).toEqual(['new'])
  })

  it('records of the audit go after AUDIT_RETENTION_DAYS', async () => {
    await createIdentityStore(database).createFirst(FIRST)
    const now = systemClock.now()
    await database.tx('audit', async (session) => {
      for (const at of [now - 3 * DAY, now - DAY, now])
        await recordChange(
          session,
          { ...ACTOR, at },
          { organization_id: 'o1', action: 'test', subject_id: 'k1', details: {} },
        )
    })
    const started: Sweep[] = []
    const sweeps: Sweeps = {
      start(sweep) {
        started.push(sweep)
        return { now: () => sweep.work(new AbortController().signal), stop: async () => undefined }
      },
      assertWorking: () => undefined,
    }
    startAuditRetention(
      { config: { auditRetentionDays: 2 }, sweeps, stops: new AsyncDisposableStack() },
      database,
    )
    expect(await started[0]?.work(new AbortController().signal)).toBe(1)
    expect(await ids('audit_log', 'at')).toEqual([now - DAY, now])
  })

  it('refused ids, and ended jobs of deletion go', async () => {
    const [now, long] = [systemClock.now(), systemClock.now() - 60 * DAY]
    const deletions = createDeletionStore(database, systemClock)
    await deletions.refuse('w', ['old'], long)
    await deletions.refuse('w', ['new'], now + DAY)
    const job = {
      workspace_id: 'w',
      scope: { kind: 'trace', trace_id: 't' },
      deleted: 0,
      error: null,
    } as const
    await deletions.add({ ...job, id: 'old', status: 'done', created_at: long, finished_at: long })
    await deletions.add({ ...job, id: 'new', status: 'done', created_at: now, finished_at: now })
    await deletions.forget(systemClock.now())
    expect([await ids('deleted_ids', 'id'), await ids('deletion_jobs', 'id')]).toEqual([['new'], ['new']])
  })

  it('uploads that never arrived and old lines of logs go', async () => {
    const uploads = createUploadStore(database, systemClock)
    const upload = (object_path: string, expires_at: number) =>
      uploads.add({ object_path, deployment_id: 'd', token_hash: object_path, expires_at })
    await upload('old', systemClock.now() - 2 * DAY)
    await upload('arrived', systemClock.now() - 2 * DAY)
    await upload('new', systemClock.now() + HOUR)
    await uploads.finish('arrived', { sha256: 'x', bytes: 1 })
    await uploads.sweep(systemClock.now() - DAY)
    expect(new Set(await ids('deployment_uploads', 'object_path'))).toEqual(new Set(['arrived', 'new']))
    const line = { revision_id: 'r', kind: 'build', level: 'INFO', message: 'm' } as const
    await createDeploymentLogStore(database, yesterday).append('d', [line])
    const logs = createDeploymentLogStore(database, systemClock)
    await logs.append('d', [line])
    await logs.trim((systemClock.now() - HOUR) * 1000)
    expect(await ids('deployment_logs', 'deployment_id')).toEqual(['d'])
  })
})
