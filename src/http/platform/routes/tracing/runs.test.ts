import { Client } from 'langsmith'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type AppFixture,
  blobsOf,
  KEY,
  startApp,
  WORKSPACE,
} from '../../../../../test/support/servers/app-fixture.ts'
import type { TraceRunQuery } from '../../../../query/trace-reads.ts'

const ID = '018f0000-0000-7000-8000-000000000001'
const RUN = {
  id: ID,
  trace_id: ID,
  name: 'n',
  run_type: 'llm',
  start_time: '2026-01-01T00:00:00.000001Z',
  inputs: {},
}
let fixture: AppFixture
afterEach(() => fixture.stop())

describe('reading', () => {
  it('passes the bytes of a run and of a trace through', async () => {
    const asked: unknown[] = []
    fixture = await startApp({
      reads: {
        traceRun: async (...query) => (asked.push(query), Buffer.from('{"id": "as is" }')),
        trace: async (...query) => (asked.push(query), Buffer.from('{"trace_id":1e400}')),
      },
    })
    const run = await fixture.request(`/api/v1/runs/${ID.toUpperCase()}?include_messages=true`)
    expect([run.headers.get('content-type'), await run.text()]).toEqual([
      'application/json',
      '{"id": "as is" }',
    ])
    expect(
      await (await fixture.request(`/traces/${ID.replaceAll('-', '')}?view=lean&cursor=c`)).text(),
    ).toContain('1e400')
    await fixture.request(`/traces/${ID}`)
    expect(asked).toEqual([
      [WORKSPACE, ID, { links: expect.objectContaining({ workspace_id: WORKSPACE }) }, undefined],
      [WORKSPACE, ID, { view: 'lean', cursor: 'c' }],
      [WORKSPACE, ID, { view: 'full' }],
    ])
    await fixture.request(`/runs/${ID}`, { headers: { 'user-agent': 'langsmith-py/0.11.1' } })
    const ofPython = { omit: ['attachments'], zoneless: true, links: expect.anything() }
    expect(asked.at(-1)).toEqual([WORKSPACE, ID, ofPython, undefined])
    expect((await fixture.request(`/traces/${ID}?view=fat`)).status).toBe(422)
  })

  it('answers 404 for unknown ids', async () => {
    fixture = await startApp()
    for (const path of [`/runs/${ID}`, `/traces/${ID}`, `/runs/${ID}/attachments/a`]) {
      const answer = await fixture.request(path)
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found' }])
    }
  })
})

describe('POST /runs/query', () => {
  it('accepts bodies of SDKs: nulls, many keys, ids in any spelling', async () => {
    const asked: TraceRunQuery[] = []
    fixture = await startApp({
      reads: {
        query: async (_workspace, query) => (asked.push(query), Buffer.from('{"runs":[],"cursors":{}}')),
      },
    })
    const bodies = [
      {},
      {
        session: [ID.toUpperCase(), ID.replaceAll('-', '')],
        trace: null,
        parent_run: ID,
        run_type: 'llm',
        filter: 'gt(total_tokens, 10)',
        start_time: '2026-01-01T00:00:00.000001Z',
        end_time: null,
        limit: 5,
        select: ['id', 'app_path'],
        order: 'asc',
        is_root: true,
        error: false,
        trace_filter: 'eq(name, "x")',
        tree_filter: null,
        skip_pagination: true,
      },
    ]
    for (const body of bodies) expect((await fixture.postJson('/runs/query', body)).status).toBe(200)
    expect(asked).toEqual([
      { limit: 100, order: 'desc', shown: {} },
      {
        shown: {},
        session: [ID, ID],
        parent_run: ID,
        run_type: 'llm',
        filter: 'gt(total_tokens, 10)',
        trace_filter: 'eq(name, "x")',
        start_time: Date.UTC(2026, 0, 1) * 1000 + 1,
        limit: 5,
        select: ['id', 'app_path'],
        order: 'asc',
        is_root: true,
        error: false,
      },
    ])
  })

  it.each([
    ['limit', { limit: 101 }],
    ['limit', { limit: 0 }],
    ['session', { session: ['nope'] }],
    ['start_time', { start_time: 'soon' }],
    ['order', { order: 'up' }],
    ['query', { query: '' }],
  ])('refuses an invalid %s instead of ignoring it', async (field, body) => {
    fixture = await startApp()
    const answer = await fixture.postJson('/runs/query', body)
    expect(answer.status).toBe(422)
    const { detail } = (await answer.json()) as { detail: { loc: unknown[] }[] }
    expect(detail[0]?.loc.slice(0, 2)).toEqual(['body', field])
  })

  it('serves the LangSmith SDK, page by page', async () => {
    const pages = [
      { runs: [RUN], cursors: { next: 'c1', prev: null } },
      { runs: [{ ...RUN, name: 'second' }], cursors: { next: null, prev: null } },
    ]
    fixture = await startApp({
      reads: {
        traceRun: async () => Buffer.from(JSON.stringify(RUN)),
        query: async (_workspace, { cursor }) => Buffer.from(JSON.stringify(pages[cursor === 'c1' ? 1 : 0])),
      },
    })
    const client = new Client({ apiUrl: fixture.url, apiKey: KEY, autoBatchTracing: false })
    expect(await client.readRun(ID)).toMatchObject({ name: 'n' })
    const names: string[] = []
    for await (const run of client.listRuns({ projectId: ID })) names.push(run.name)
    expect(names).toEqual(['n', 'second'])
  })
})

describe('attachments', () => {
  const attachment = (mime_type: string) => async () => ({ mime_type, size: 3, sha256: 'a'.repeat(64) })
  const bytes = Buffer.from([1, 2, 255])

  it('have their type and bytes', async () => {
    fixture = await startApp({ reads: { attachment: attachment('image/png') }, blobs: blobsOf(bytes) })
    const answer = await fixture.request(`/runs/${ID}/attachments/${encodeURIComponent('a/ü".png')}`)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '3',
      'content-disposition': `inline; filename*=UTF-8''a%2F%C3%BC%22.png`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    const head = await fixture.request(`/runs/${ID}/attachments/a`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '3'])
  })

  it.each([
    ['text/html', 'text/html'],
    ['image/svg+xml', 'image/svg+xml'],
    ['nonsense\r\nset-cookie: a=b', 'application/octet-stream'],
  ])('of type %s are downloaded, not shown', async (sent, served) => {
    fixture = await startApp({ reads: { attachment: attachment(sent) }, blobs: blobsOf(bytes) })
    const answer = await fixture.request(`/runs/${ID}/attachments/a`)
    expect(answer.headers.get('content-type')).toBe(served)
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

describe('POST /runs/validate', () => {
  it('passes any body to the validator and stores nothing', async () => {
    const seen: unknown[] = []
    fixture = await startApp({
      reads: {
        validate: async (_, type, body) => (
          seen.push(type, Buffer.from(body).toString()), Buffer.from('{"ok":1}')
        ),
      },
    })
    const answer = await fixture.request('/runs/validate', {
      method: 'POST',
      body: '--B--',
      headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-encoding': 'zstd' },
    })
    expect(await answer.json()).toEqual({ ok: 1 })
    expect(seen).toEqual([
      { content_type: 'multipart/form-data; boundary=B', content_encoding: 'zstd' },
      '--B--',
    ])
    expect(fixture.ingested).toEqual([])
  })
})
