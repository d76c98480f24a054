import { Client } from 'langsmith'
import { afterEach, describe, expect, it } from 'vitest'
import {
  accepted,
  type AppFixture,
  KEY,
  startApp,
  WORKSPACE,
} from '../../../../../test/support/servers/app-fixture.ts'

const RUN = '018f0000-0000-7000-8000-000000000001'
let fixture: AppFixture
afterEach(() => fixture.stop())

describe('POST /feedback', () => {
  it('is sent to ingest as a multipart part', async () => {
    fixture = await startApp({ ingest: async () => accepted({ accepted: 0, feedback: 1 }) })
    const answer = await fixture.postJson('/api/v1/feedback', {
      run_id: RUN,
      key: 'k',
      score: 0.5,
      value: { a: [1] },
    })
    expect(answer.status).toBe(200)
    const record = (await answer.json()) as { id: string }
    expect(record).toMatchObject({
      run_id: RUN,
      key: 'k',
      score: 0.5,
      created_at: '2026-11-20T09:00:00.000Z',
    })
    const [ingested] = fixture.ingested
    expect(ingested?.head).toMatchObject({ kind: 'multipart', workspace_id: WORKSPACE, content_encoding: '' })
    const boundary = /boundary=(.+)$/.exec(ingested?.head.content_type ?? '')?.[1]
    const [, part = '', end] = ingested?.body.toString().split(`--${boundary}`) ?? []
    expect(part).toContain(`name="feedback.${record.id}"`)
    expect(JSON.parse(part.slice(part.indexOf('{')))).toMatchObject({ id: record.id, value: { a: [1] } })
    expect(end).toBe('--\r\n')
  })

  it('keeps the id of the client, and returns rejections of decoding', async () => {
    fixture = await startApp({
      ingest: async () =>
        accepted({
          accepted: 0,
          rejected: [
            {
              run_id: null,
              code: 'missing_field',
              field: 'run_id',
              reason: 'No run.',
              error: 'e',
              status: 422,
            },
          ],
        }),
    })
    const answer = await fixture.postJson('/feedback', { id: RUN, key: 'k' })
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { detail: 'No run.', code: 'missing_field' },
    ])
    expect(fixture.ingested[0]?.body.toString()).toContain(`name="feedback.${RUN}"`)
    expect((await fixture.postJson('/feedback', { run_id: RUN })).status).toBe(422)
  })

  it('serves the LangSmith SDK, and returns the offset of the next page', async () => {
    const asked: unknown[] = []
    fixture = await startApp({
      reads: {
        feedback: async (_workspace, query) => {
          asked.push(query)
          return { body: Buffer.from(`[{"id":"${RUN}","key":"k1"}]`), shown: 1, more: true }
        },
      },
    })
    const client = new Client({ apiUrl: fixture.url, apiKey: KEY, autoBatchTracing: false })
    await client.createFeedback(RUN, 'k', { score: true, sessionId: WORKSPACE })
    const options = { runIds: [RUN], feedbackKeys: ['k1'], feedbackSourceTypes: ['api' as const] }
    for await (const record of client.listFeedback(options)) expect(record.key).toBe('k1')
    expect(asked).toEqual([
      { run_ids: [RUN], project_ids: [], keys: ['k1'], sources: ['api'], limit: 100, offset: 0 },
    ])
    const page = await fixture.request(`/feedback?run=${RUN}&offset=4`)
    expect(page.headers.get('x-pagination-next')).toBe('5')
    expect((await fixture.request('/feedback')).status).toBe(200)
  })
})
