import { Client } from 'langsmith'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'
import { AppError } from '../../../../base/errors.ts'
import type { ProjectStats } from '../../../../ingest/store/trace-store.ts'
import type { TraceReads } from '../../../../query/trace-reads.ts'
import { createRegistry } from '../../../../schema/registry.ts'

const ID = '018f0000-0000-7000-8000-000000000001'
let fixture: AppFixture
const COUNTS = { run_count: 7, last_start: Date.UTC(2026, 0, 2) * 1000 + 5 }
const STATS: ProjectStats = {
  ...COUNTS,
  trace_count: 2,
  llm_runs: 3,
  unpriced_runs: 1,
  latency_p50: 1.5,
  latency_p95: 1.9,
  latency_p99: 2,
  first_token_p50: 0.25,
  first_token_p99: null,
  prompt_tokens: 30,
  completion_tokens: 12,
  prompt_cost: '0.0000000001',
  completion_cost: null,
  total_cost: '12345678901234567890.000000000000000001',
  estimated_prompt_tokens: 10,
  estimated_completion_tokens: 0,
  estimated_cost: '0.5',
  error_rate: 0.5,
  streaming_rate: 1,
}
let projectCounts: TraceReads['projectCounts']
beforeEach(async () => {
  projectCounts = async (_workspace, ids) => new Map(ids.map((id) => [id, COUNTS]))
  fixture = await startApp({
    reads: {
      projectCounts: (...query) => projectCounts(...query),
      projectStats: async (_workspace, ids) =>
        new Map(ids.filter((id) => id === ID).map((id) => [id, STATS])),
    },
  })
})
afterEach(() => fixture.stop())

async function json(answer: Response): Promise<unknown> {
  return await answer.json()
}

describe('projects over HTTP', () => {
  it('creates one and reads it in the shape of a LangSmith session', async () => {
    const made = await fixture.postJson('/sessions', {
      id: ID,
      name: 'p',
      extra: { a: 1 },
      description: null,
      unknown: 1,
    })
    expect(made.status).toBe(200)
    const read = await json(await fixture.request(`/api/v1/sessions/${ID}`))
    expect(createRegistry().check('session', read)).toMatchObject({ ok: true })
    expect(read).toMatchObject({
      id: ID,
      tenant_id: WORKSPACE,
      name: 'p',
      extra: { a: 1 },
      start_time: '2026-11-20T09:00:00.000Z',
      end_time: null,
      run_count: 7,
      last_run_start_time: '2026-01-02T00:00:00.000005Z',
      latency_p50: 1.5,
      total_tokens: 42,
      prompt_cost: '0.0000000001',
      completion_cost: null,
      total_cost: '12345678901234567890.000000000000000001',
      error_rate: 0.5,
    })
  })

  it('returns sums of one project, and of a list if requested', async () => {
    for (const project of [{ id: ID, name: 'busy' }, { name: 'new' }])
      await fixture.postJson('/sessions', project)
    const figures = async (search: string) => {
      const answer = await json(await fixture.request(`/sessions?${search}`))
      expect(createRegistry().check('session-list', answer)).toMatchObject({ ok: true })
      return (answer as Record<string, unknown>[])
        .toSorted((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1))
        .map(({ run_count, llm_runs, total_tokens, total_cost, unpriced_runs }) => [
          run_count,
          llm_runs,
          total_tokens,
          total_cost,
          unpriced_runs,
        ])
    }
    expect(await figures('include_stats=true')).toEqual([
      [7, 3, 42, STATS.total_cost, 1],
      [0, 0, 0, null, 0],
    ])
    expect(await figures('')).toEqual([
      [7, null, null, null, null],
      [7, null, null, null, null],
    ])
    expect(await figures('include_stats=false')).toEqual([
      [null, null, null, null, null],
      [null, null, null, null, null],
    ])
    const bare = await json(await fixture.request(`/sessions/${ID}?include_stats=false`))
    expect(bare).toMatchObject({ name: 'busy', run_count: null, latency_p50: null })
  })

  it('answers 409 when the name is taken, unless upsert', async () => {
    await fixture.postJson('/sessions', { id: ID, name: 'p' })
    const again = await fixture.postJson('/sessions', { name: 'p' })
    expect([again.status, await json(again)]).toMatchObject([
      409,
      { detail: 'Session already exists.', code: 'conflict' },
    ])
    const upsert = await fixture.postJson('/sessions?upsert=true', { name: 'p', description: 'new' })
    expect([upsert.status, await json(upsert)]).toMatchObject([200, { id: ID, description: 'new' }])
  })

  it('lists by name, part of the name and id, page by page', async () => {
    for (const name of ['alpha', 'beta', 'alphabet']) await fixture.postJson('/sessions', { name })
    const names = async (search: string) =>
      ((await json(await fixture.request(`/sessions?${search}`))) as { name: string }[])
        .map(({ name }) => name)
        .sort()
    expect(await names('name=alpha')).toEqual(['alpha'])
    expect(await names('name=nothing')).toEqual([])
    expect(await names('name_contains=ALPHA')).toEqual(['alpha', 'alphabet'])
    expect(await names('name_contains=%25')).toEqual([])
    const pages = [await names('limit=2'), await names('limit=2&offset=2')]
    expect(pages.flat().sort()).toEqual(['alpha', 'alphabet', 'beta'])
  })

  it('answers without figures when the store is down, and with an error for any other failure', async () => {
    await fixture.postJson('/sessions', { name: 'p' })
    projectCounts = () => Promise.reject(new AppError('store_unavailable'))
    const [session] = (await json(await fixture.request('/sessions'))) as { run_count: unknown }[]
    expect(session?.run_count).toBeNull()
    projectCounts = () => Promise.reject(new Error('bug'))
    expect((await fixture.request('/sessions')).status).toBe(500)
    expect((await fixture.request('/sessions?include_stats=false')).status).toBe(200)
  })

  it('changes one, and refuses unknown ids and bad bodies', async () => {
    await fixture.postJson('/sessions', { id: ID, name: 'p' })
    const changed = await fixture.postJson(
      `/sessions/${ID}`,
      { name: 'q', end_time: '2026-11-21T00:00:00Z', extra: null },
      'PATCH',
    )
    expect(await json(changed)).toMatchObject({ name: 'q', end_time: '2026-11-21T00:00:00.000Z', extra: {} })
    expect((await fixture.postJson(`/sessions/${WORKSPACE}`, { name: 'q' }, 'PATCH')).status).toBe(404)
    expect((await fixture.request(`/sessions/${WORKSPACE}`)).status).toBe(404)
    const bad = await fixture.postJson('/sessions', { name: 5, start_time: 'x' })
    expect([bad.status, await json(bad)]).toMatchObject([422, { detail: [{ loc: ['body', 'name'] }] }])
    const time = await fixture.postJson('/sessions', { name: 'r', start_time: 'yesterday' })
    expect([time.status, await json(time)]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'start_time'] }] },
    ])
  })

  it('serves the LangSmith SDK', async () => {
    const client = new Client({ apiUrl: `${fixture.url}/api/v1`, apiKey: KEY, autoBatchTracing: false })
    expect(await client.hasProject({ projectName: 'sdk' })).toBe(false)
    const made = await client.createProject({ projectName: 'sdk', metadata: { m: 1 } })
    expect(await client.hasProject({ projectName: 'sdk' })).toBe(true)
    expect(await client.readProject({ projectName: 'sdk' })).toMatchObject({ id: made.id, run_count: 7 })
    const whole = await client.readProject({ projectId: made.id, includeStats: true })
    expect(whole).toMatchObject({ run_count: 0, total_tokens: 0, prompt_tokens: 0 })
    expect(await client.readProject({ projectId: made.id })).toMatchObject({ extra: { metadata: { m: 1 } } })
    await client.updateProject(made.id, { description: 'said' })
    const names: unknown[] = []
    for await (const project of client.listProjects()) names.push(project.name, project.description)
    expect(names).toEqual(['sdk', 'said'])
    await expect(client.readProject({ projectName: 'nothing' })).rejects.toThrow('not found')
  })
})
