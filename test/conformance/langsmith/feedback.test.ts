import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Client, Feedback } from 'langsmith'
import { traceable } from 'langsmith/traceable'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { PYTHON, pinned, withoutPython } from '../../support/python.ts'
import { makeClient, readEnded, useClientSetup } from './js/client-setup.ts'
import { inLong } from '../../support/length.ts'

const setup = useClientSetup()
const run_id = newUuid()
let client: Client
let sessionId: string

beforeAll(async () => {
  client = makeClient(setup())
  await traceable(() => 'x', { name: 'judged', id: run_id, client, tracingEnabled: true })()
  sessionId = (await readEnded(client, run_id)).session_id
})

async function list(feedbackKeys: string[]): Promise<Feedback[]> {
  const found: Feedback[] = []
  for await (const feedback of client.listFeedback({ runIds: [run_id], feedbackKeys })) found.push(feedback)
  return found
}

describe('feedback', () => {
  it('is listed, changed and gone as soon as the previous call has answered', async () => {
    for (let round = 0; round < 2; round++) {
      const key = `quality-${round}`
      const { id } = await client.createFeedback(run_id, key, { score: 0.25, comment: 'so so', sessionId })
      expect(await list([key])).toMatchObject([{ id, score: 0.25, comment: 'so so', run_id }])
      const before = await client.readFeedback(id)
      expect(before).toMatchObject({ id, key, run_id, trace_id: null, comment: 'so so' })
      await client.updateFeedback(id, { score: 0.5 })
      expect(await list([key])).toMatchObject([{ id, score: 0.5, comment: 'so so' }])
      const answer = await setup().weir.request(`/api/v1/feedback/${id}`, {
        method: 'PATCH',
        body: '{"comment":null}',
        headers: { 'content-type': 'application/json' },
      })
      expect(answer.status).toBe(200)
      const after = await client.readFeedback(id)
      expect(after).toMatchObject({ score: 0.5, comment: null, created_at: before.created_at })
      expect(Date.parse(after.modified_at)).toBeGreaterThan(Date.parse(before.modified_at))
      await client.deleteFeedback(id)
      expect(await list([key])).toEqual([])
      await expect(client.readFeedback(id)).rejects.toThrow('404')
    }
  })

  inLong(() => {
    it('changed twice at once loses neither change', async () => {
      const { id } = await client.createFeedback(run_id, 'both', { score: 1, sessionId })
      const changes = Array.from({ length: 6 }, (_, n) =>
        client.updateFeedback(id, n % 2 === 0 ? { score: n } : { comment: `c${n}` }),
      )
      await Promise.all(changes)
      const { score, comment } = await client.readFeedback(id)
      expect([typeof score, comment]).toEqual(['number', expect.stringMatching(/^c/)])
    })
  })
})

inLong(() => {
  describe('feedback configs', () => {
    it('are created, listed, changed and deleted', async () => {
      const feedbackKey = `config-${newUuid()}`
      const feedbackConfig = { type: 'continuous' as const, min: 0, max: 1 }
      const made = await client.createFeedbackConfig({ feedbackKey, feedbackConfig })
      expect(made).toMatchObject({ feedback_key: feedbackKey, feedback_config: feedbackConfig })
      expect(await client.createFeedbackConfig({ feedbackKey, feedbackConfig })).toEqual(made)
      const other = { ...feedbackConfig, max: 2 }
      await expect(client.createFeedbackConfig({ feedbackKey, feedbackConfig: other })).rejects.toThrow('409')
      await client.updateFeedbackConfig(feedbackKey, { isLowerScoreBetter: true })
      const found: object[] = []
      for await (const config of client.listFeedbackConfigs({ feedbackKeys: [feedbackKey] }))
        found.push(config)
      expect(found).toMatchObject([{ is_lower_score_better: true, feedback_config: feedbackConfig }])
      const again = await client.createFeedbackConfig({
        feedbackKey,
        feedbackConfig,
        isLowerScoreBetter: false,
      })
      expect(again).toEqual(found[0])
      await client.deleteFeedbackConfig(feedbackKey)
      await expect(client.deleteFeedbackConfig(feedbackKey)).rejects.toThrow('404')
    })
  })
})

describe('a presigned token', () => {
  const send = (url: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      body: '{"score":1,"comment":"by token"}',
      headers: { 'content-type': 'application/json', origin: 'https://app.example.com' },
      ...init,
    })

  it('accepts feedback on its run from a page of any site, without a key', async () => {
    const { url } = await client.createPresignedFeedbackToken(run_id, 'thumbs')
    expect(url).toMatch(/\/api\/v1\/feedback\/tokens\/[0-9a-f-]{36}$/)
    const { weir, proxy } = setup()
    const asked = await send(url.replace(proxy.url, weir.url), { method: 'OPTIONS', body: null })
    expect(asked.headers.get('access-control-allow-origin')).toBe('*')
    expect(asked.headers.get('access-control-allow-methods')).toContain('POST')
    const answer = await send(url)
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(await list(['thumbs'])).toMatchObject([{ run_id, score: 1, comment: 'by token' }])
  })

  inLong(() => {
    it('is its own id, as at LangSmith, and gives access to nothing else', async () => {
      const { id, url } = await client.createPresignedFeedbackToken(run_id, 'thumbs')
      const token = url.slice(-36)
      expect(id).toBe(token)
      const listed: { id: string; url: string }[] = []
      for await (const found of client.listPresignedFeedbackTokens(run_id)) listed.push(found)
      expect(listed.find((found) => found.id === id)).toMatchObject({ url })
      const { weir } = setup()
      for (const path of [
        `/feedback/tokens?run_id=${run_id}`,
        `/runs/${run_id}`,
        `/feedback?run=${run_id}`,
      ]) {
        const answer = await fetch(`${weir.url}/api/v1${path}`, { headers: { 'x-api-key': token } })
        expect([path, answer.status]).toEqual([path, 401])
      }
    })
  })

  it('expires, and is valid for a limited number of calls a minute', async () => {
    const { weir } = setup()
    const body = { run_id, feedback_key: 'k', expires_at: new Date(Date.now() - 1000).toISOString() }
    const headers = { 'content-type': 'application/json' }
    const past = await weir.request('/feedback/tokens', {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    })
    expect(past.status).toBe(422)
    const { url } = await client.createPresignedFeedbackToken(run_id, 'often')
    const statuses = await Promise.all(Array.from({ length: 61 }, async () => (await send(url)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  })
})

const missing = withoutPython()

describe.skipIf(missing !== '')(`the Python SDK, ${pinned('langsmith')}${missing}`, () => {
  it('reads, changes and deletes feedback, its configs and tokens', async () => {
    const script = fileURLToPath(new URL('feedback.py', import.meta.url))
    const { stdout } = await promisify(execFile)(PYTHON, ['-W', 'ignore', script], {
      env: {
        PATH: process.env['PATH'] ?? '',
        LANGSMITH_ENDPOINT: setup().proxy.url,
        LANGSMITH_API_KEY: setup().weir.key,
        RUN_ID: run_id,
      },
    })
    expect(JSON.parse(stdout)).toEqual({
      read: ['quality', 0.25, 'so so', true],
      changed: [0.5, null],
      tokens: 2,
      listed: expect.any(Number),
      by_token: expect.arrayContaining([[1, 'by token', { page: 'chat' }]]),
      config: [
        [
          { value: 1, label: 'yes' },
          { value: 2, label: 'maybe' },
        ],
        true,
      ],
      configs_left: 0,
      gone: 'LangSmithNotFoundError',
    })
  })
})
