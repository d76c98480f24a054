import { afterEach, describe, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp } from '../../../../test/support/servers/app-fixture.ts'
import type { IdentityStore } from '../../../identity/identity-store.ts'
import { AppError } from '../../../base/errors.ts'
import { createRegistry } from '../../../schema/registry.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

describe('GET /info', () => {
  it('has the flags that SDKs read, and our limits', async () => {
    fixture = await startApp()
    const info: unknown = await (await fetch(`${fixture.url}/info`)).json()
    expect(createRegistry().check('info', info)).toMatchObject({ ok: true })
    expect(info).toMatchObject({
      version: '0.18.0',
      license_expiration_time: null,
      customer_info: null,
      batch_ingest_config: {
        use_multipart_endpoint: true,
        scale_up_qsize_trigger: 1000,
        scale_up_nthreads_limit: 16,
        scale_down_nempty_trigger: 4,
        size_limit: 100,
        size_limit_bytes: 20_971_520,
      },
      instance_flags: {
        zstd_compression_enabled: true,
        gzip_body_enabled: true,
        dataset_examples_multipart_enabled: true,
      },
      weir: { version: '0.1.0', limits: { max_parts: 25_000, max_json_body_bytes: 1_048_576 } },
    })
  })

  it('uses no store, also for a request with a key', async () => {
    const broken = (store: IdentityStore): IdentityStore => ({
      ...store,
      findKey: () => Promise.reject(new Error('down')),
    })
    fixture = await startApp({ identity: broken })
    for (const path of ['/info', '/ok']) {
      expect((await fetch(fixture.url + path, { headers: { 'x-api-key': KEY } })).status).toBe(200)
    }
    expect((await fixture.request('/sessions')).status).toBe(500)
  })
})

describe('GET /', () => {
  it('redirects to the documentation, without a key and under every prefix', async () => {
    fixture = await startApp()
    for (const path of ['/', '', '/api/v1', '/api/v1/', '/api']) {
      const answer = await fetch(fixture.url + path, { redirect: 'manual' })
      expect([answer.status, answer.headers.get('location')]).toEqual([302, 'docs'])
      expect(await answer.json()).toMatchObject({ openapi: 'openapi.json', info: 'info' })
      const page = await fetch(fixture.url + path)
      expect(page.headers.get('content-type')).toContain('text/html')
    }
  })

  it('redirects a browser to the web interface', async () => {
    fixture = await startApp()
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const answer = await fetch(`${fixture.url}/`, { headers, redirect: 'manual' })
    expect([answer.status, answer.headers.get('location'), answer.headers.get('vary')]).toEqual([
      302,
      'app/',
      'accept',
    ])
  })
})

describe('GET /ok', () => {
  it('checks the stores only with check_db', async () => {
    let asked = 0
    fixture = await startApp({ checks: { sql: async () => (asked += 1) } })
    expect(await (await fetch(`${fixture.url}/ok`)).json()).toEqual({ ok: true })
    expect(asked).toBe(0)
    expect(await (await fetch(`${fixture.url}/ok?check_db=1`)).json()).toEqual({
      ok: true,
      checks: { sql: 'up' },
    })
    expect(asked).toBe(1)
  })

  it('is 503 with Retry-After, a code and a message when a store is down or silent, or the disk is full', async () => {
    fixture = await startApp({
      checks: {
        sql: async () => 1,
        clickhouse: () => Promise.reject(new Error('the secret of a cause')),
        slow: () => new Promise(() => undefined),
        disk: () => Promise.reject(new AppError('disk_full', { message: 'Only 3 MiB are free.' })),
      },
    })
    const answer = await fetch(`${fixture.url}/ok?check_db=1`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.json()).toEqual({
      ok: false,
      checks: { sql: 'up', clickhouse: 'down', slow: 'down', disk: 'down' },
      problems: {
        clickhouse: { code: 'store_unavailable', detail: 'The store does not answer. Try again shortly.' },
        slow: { code: 'store_unavailable', detail: 'No answer within 5 s.' },
        disk: { code: 'disk_full', detail: 'Only 3 MiB are free.' },
      },
    })
  })
})

describe('GET /api/v1/ingest/health', () => {
  it('returns the state of the ingester, in its schema', async () => {
    fixture = await startApp()
    const health: unknown = await (await fixture.request('/api/v1/ingest/health')).json()
    expect(createRegistry().check('ingest-health', health)).toMatchObject({ ok: true })
    expect(health).toMatchObject({ accepted: 3, rejected: { invalid_run_id: 1 } })
  })
})

describe('identity', () => {
  it('returns organization and workspaces in their schemas', async () => {
    fixture = await startApp()
    const registry = createRegistry()
    const organization: unknown = await (await fixture.request('/api/v1/orgs/current')).json()
    expect(registry.check('organization', organization)).toMatchObject({
      ok: true,
      value: { plan: 'enterprise' },
    })
    const workspaces: unknown = await (await fixture.request('/api/v1/workspaces')).json()
    expect(registry.check('workspace-list', workspaces)).toMatchObject({
      ok: true,
      value: [{ display_name: 'Default', created_at: '2026-11-20T09:00:00.000Z' }],
    })
  })
})
