import { afterEach, describe, expect, it } from 'vitest'
import { NOW, testClock } from '../../../../test/support/faults/test-clock.ts'
import { type AppFixture, KEY, startApp } from '../../../../test/support/servers/app-fixture.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

const JSON_TYPE = { 'content-type': 'application/json' }
/** Longer than any test: only a change on this server causes a check. */
const NEVER_MS = 3_600_000

/** Opens the live feed; `ended` resolves when the server has ended it. */
async function follow(headers: Record<string, string>): Promise<{ ended: Promise<void> }> {
  const answer = await fetch(`${fixture.url}/live?topic=ingest`, { headers })
  expect(answer.status).toBe(200)
  const reader = answer.body?.getReader()
  const first = await reader?.read()
  expect(Buffer.from(first?.value ?? []).toString()).toContain('event: open')
  const drain = async (): Promise<void> => {
    try {
      while ((await reader?.read())?.done === false);
    } catch {
      // The connection was cut.
    }
  }
  return { ended: drain() }
}

async function newKey(body: object = {}): Promise<{ id: string; key: string }> {
  const answer = await fixture.postJson('/orgs/current/service-keys', {
    description: 'mine',
    role: 'viewer',
    ...body,
  })
  return (await answer.json()) as { id: string; key: string }
}

const revoke = (id: string): Promise<Response> =>
  fixture.request(`/orgs/current/service-keys/${id}`, { method: 'DELETE' })

describe('D-64: an open stream ends', () => {
  it('when its key is revoked, and no other stream does', async () => {
    fixture = await startApp({ checkCallersMs: NEVER_MS })
    const [lost, kept] = [await newKey(), await newKey()]
    const stream = await follow({ 'x-api-key': lost.key })
    const other = await follow({ 'x-api-key': kept.key })
    expect((await revoke(lost.id)).ok).toBe(true)
    await stream.ended
    const state = await Promise.race([
      other.ended.then(() => 'ended'),
      fixture.request('/ok').then(() => 'open'),
    ])
    expect(state).toBe('open')
  })

  it('when its session is signed out', async () => {
    fixture = await startApp({ checkCallersMs: NEVER_MS })
    const signed = await fetch(`${fixture.url}/auth/session`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ key: KEY }),
    })
    const cookie = signed.headers.get('set-cookie')?.split(';')[0] ?? ''
    const stream = await follow({ cookie })
    await fetch(`${fixture.url}/auth/session`, { method: 'DELETE', headers: { cookie } })
    await stream.ended
  })

  it('when another server has revoked its key', async () => {
    fixture = await startApp({ checkCallersMs: 20 })
    const { id, key } = await newKey()
    const stream = await follow({ 'x-api-key': key })
    await fixture.database.query('DELETE FROM api_keys WHERE id = ?', [id])
    await stream.ended
  })

  it('when its key expires', async () => {
    let now = NOW
    fixture = await startApp({ checkCallersMs: 20, clock: testClock(() => now) })
    const { key } = await newKey({ expires_at: new Date(NOW + 60_000).toISOString() })
    const stream = await follow({ 'x-api-key': key })
    now += 60_000
    await stream.ended
  })

  it('but not while the store of keys does not answer', async () => {
    let isAway = false
    fixture = await startApp({
      checkCallersMs: 5,
      identity: (store) => ({
        ...store,
        findKey: (hash) => (isAway ? Promise.reject(new Error('away')) : store.findKey(hash)),
      }),
    })
    const stream = await follow({ 'x-api-key': KEY })
    isAway = true
    const state = await Promise.race([
      stream.ended.then(() => 'ended'),
      fixture
        .postJson('/runs/validate', {})
        .then(() => fixture.request('/ok'))
        .then(() => 'open'),
    ])
    expect(state).toBe('open')
  })
})
