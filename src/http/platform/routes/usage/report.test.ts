import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AppFixture,
  KEY,
  ORGANIZATION,
  startApp,
  WORKSPACE,
} from '../../../../../test/support/servers/app-fixture.ts'
import { NOW } from '../../../../../test/support/faults/test-clock.ts'
import { type CountedTrace, memoryUsageSource } from '../../../../../test/support/usage/memory-source.ts'
import { hashApiKey, shortKey } from '../../../../identity/api-keys.ts'
import { systemClock } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { newUuid } from '../../../../base/ids.ts'
import { createLogger } from '../../../../base/log.ts'
import { createRegistry } from '../../../../schema/registry.ts'
import { createUsageRebuilds } from '../../../../usage/counting/rebuilds.ts'
import type { UsageDetailsQuery } from '../../../../usage/report/details-source.ts'
import type { UsageQuery } from '../../../../usage/report/source.ts'

const OTHER = '55555555-5555-4555-8555-555555555555'
const FOREIGN = '66666666-6666-4666-8666-666666666666'
const DEPLOYMENT = '77777777-7777-4777-8777-777777777777'
const KEY_ID = '44444444-4444-4444-8444-444444444444'
const ADMIN = '33333333-3333-4333-8333-333333333333'
const ACTOR = { api_key_id: KEY_ID, short_key: shortKey(KEY), user_id: ADMIN, at: NOW }
const COUNTS = '/api/v1/orgs/current/billing/granular-usage'
const DETAILS = '/api/v1/orgs/current/billing/usage-details'
const RANGE = 'start_time=2026-01-15T00:00:00Z&end_time=2026-01-17T00:00:00Z'

const trace = (workspace_id: string, day: number): CountedTrace => ({
  workspace_id,
  time: Date.UTC(2026, 0, day, 12),
  project_id: newUuid(),
  user_id: ADMIN,
  api_key_id: KEY_ID,
})
const TRACES = [trace(WORKSPACE, 15), trace(OTHER, 15), trace(OTHER, 16), trace(FOREIGN, 15)]

let fixture: AppFixture
let asked: UsageQuery[]
let askedDetails: UsageDetailsQuery[]
beforeEach(async () => {
  asked = []
  askedDetails = []
  const source = memoryUsageSource(TRACES)
  fixture = await startApp({
    usage: {
      counts: { count: (query) => (asked.push(query), source.count(query)) },
      deployments: {
        count: async ({ origin, group_by, workspace_ids }) =>
          workspace_ids.map((workspace_id) => ({
            bucket: origin,
            workspace_id,
            dimension_id: group_by === 'project' ? DEPLOYMENT : workspace_id,
            agent_runs: 2,
            nodes_executed: 7,
          })),
        names: async () => new Map([[`${WORKSPACE}/${DEPLOYMENT}`, 'My agent']]),
      },
      traces: { list: async () => [] },
      runs: { list: async () => [] },
      rebuilds: createUsageRebuilds({
        rollups: { refresh: async () => ({ done: 0, left: 0 }), rebuild: async () => undefined },
        clock: systemClock,
        logger: createLogger({ level: 'silent' }),
      }),
      details: {
        async details(query) {
          askedDetails.push(query)
          const none = { workspace_id: WORKSPACE, dimension_id: WORKSPACE, completion_cost: null }
          const sums = {
            llm_runs: 1,
            prompt_tokens: 10,
            completion_tokens: 5,
            prompt_cost: null,
            total_cost: '0.5',
            estimated_prompt_tokens: 10,
            estimated_completion_tokens: 0,
            estimated_cost: '0.25',
            unpriced_runs: 1,
            unpriced_tokens: 7,
            units: { web_searches: 2 },
          }
          return [{ bucket: query.origin, ...none, ...sums, provider: 'openai', model: '=odd' }]
        },
      },
    },
  })
})
afterEach(() => fixture.stop())

async function addWorkspace(id: string, display_name: string): Promise<void> {
  const workspace = { id, organization_id: ORGANIZATION, display_name, created_at: NOW }
  await fixture.deps.identity.createWorkspace(workspace, ACTOR)
  fixture.deps.authenticator.forgetAll()
}

let keys = 0

/** Adds a key of one workspace and returns its text. */
async function addKey(role: 'admin' | 'viewer' | 'user', workspace_ids: string[]): Promise<string> {
  // Keys are distinguished by their endings, so each key gets another ending.
  const end = (keys++).toString(16).padStart(10, '0')
  const key = `lsv2_sk_${newUuid().replaceAll('-', '')}_${end}`
  const stored = {
    id: newUuid(),
    key_hash: hashApiKey(key),
    short_key: shortKey(key),
    description: '',
    organization_id: ORGANIZATION,
    user_id: null,
    role,
    read_only: false,
    workspace_ids,
    default_workspace_id: null,
    created_at: NOW,
    expires_at: null,
    last_used_at: null,
  }
  expect(await fixture.deps.identity.createKey(stored, ACTOR)).toBe(true)
  return key
}

interface Report {
  usage: { time_bucket: string; dimensions: Record<string, string | null>; traces: number }[]
}

async function read(search: string, key = KEY): Promise<Report> {
  const answer = await fixture.request(`${COUNTS}?${search}`, { headers: { 'x-api-key': key } })
  const body = (await answer.json()) as Report
  expect([answer.status, body]).toEqual([200, expect.anything()])
  expect(createRegistry().check('granular-usage', body)).toMatchObject({ ok: true })
  return body
}

const total = ({ usage }: Report): number => usage.reduce((sum, line) => sum + line.traces, 0)

describe('GET granular-usage', () => {
  it.each(['', '/export'])('USAGE-19: refuses what it does not count%s', async (form) => {
    const ask = (more: string) =>
      fixture.request(`${COUNTS}${form}?${RANGE}&workspace_ids=${WORKSPACE}&${more}`, {
        headers: { 'x-api-key': KEY },
      })
    for (const more of [
      'kind=deployments',
      'kind=langsmith_deployments&trace_tier=longlived',
      'trace_tier=longlived',
      'group_by=trace_tier',
    ]) {
      const answer = await ask(more)
      expect([more, answer.status, await answer.json()]).toMatchObject([
        more,
        422,
        { code: 'invalid_request' },
      ])
    }
    expect(asked).toEqual([])
    expect((await ask('kind=traces&trace_tier=')).status).toBe(200)
  })

  it('USAGE-20: answers with the runs of deployments, whose projects are deployments', async () => {
    const query = `${RANGE}&workspace_ids=${WORKSPACE}&kind=langsmith_deployments&group_by=project`
    expect((await read(query)).usage).toEqual([
      {
        time_bucket: '2026-01-15T00:00:00Z',
        dimensions: { project_id: DEPLOYMENT, project_name: 'My agent' },
        traces: 0,
        agent_runs: 2,
        nodes_executed: 7,
        agent_uptime_seconds: null,
      },
    ])
    const csv = await fixture.request(`${COUNTS}/export?${query}`, { headers: { 'x-api-key': KEY } })
    expect(csv.headers.get('content-disposition')).toContain('deployment-usage_project_2026-01-15')
    expect(await csv.text()).toBe(
      'Time Bucket Start,Time Bucket End,Workspace ID,Workspace Name,Project ID,Project Name,User ID,User Email,' +
        'API Key Short Key,Nodes Executed,Agent Runs\r\n' +
        `2026-01-15T00:00:00Z,2026-01-16T00:00:00Z,,,${DEPLOYMENT},My agent,,,,7,2\r\n`,
    )
    expect(asked).toEqual([])
  })

  it('answers in the documented shape, with the current name', async () => {
    await addWorkspace(OTHER, 'Old name')
    await fixture.deps.identity.renameWorkspace(ORGANIZATION, OTHER, 'My Workspace', ACTOR)
    expect(await read(`${RANGE}&workspace_ids=${OTHER}`)).toEqual({
      stride: { days: 1, hours: 0 },
      usage: [15, 16].map((day) => ({
        time_bucket: `2026-01-${day}T00:00:00Z`,
        dimensions: { workspace_id: OTHER, workspace_name: 'My Workspace' },
        traces: 1,
      })),
    })
  })

  it('USAGE-2: takes workspace_ids repeated or with commas, in any spelling and each once', async () => {
    await addWorkspace(OTHER, 'Other')
    for (const search of [
      `workspace_ids=${WORKSPACE}&workspace_ids=${OTHER}`,
      `workspace_ids=${WORKSPACE},${OTHER}`,
      `workspace_ids=${WORKSPACE}%2C${OTHER}&workspace_ids=${OTHER.toUpperCase()}`,
    ])
      expect(total(await read(`${RANGE}&${search}`))).toBe(3)
    expect(asked.map(({ workspace_ids }) => workspace_ids.length)).toEqual([2, 2, 2])
  })

  it('USAGE-3: takes a plus sign that arrived as a space', async () => {
    const times = 'start_time=2026-01-15T02:00:00+02:00&end_time=2026-01-16T02:00:00%2B02:00'
    expect(total(await read(`${times}&workspace_ids=${WORKSPACE}`))).toBe(1)
    expect(asked[0]).toMatchObject({ start: Date.UTC(2026, 0, 15), end: Date.UTC(2026, 0, 16) })
  })

  it.each([
    ['', { start_time: 'missing', end_time: 'missing', workspace_ids: 'missing' }],
    [`${RANGE}&workspace_ids=`, { workspace_ids: 'missing' }],
    [`${RANGE}&workspace_ids=x`, { workspace_ids: 'uuid_parsing' }],
    [
      `start_time=soon&end_time=2026-02-30&workspace_ids=${WORKSPACE}`,
      { start_time: 'datetime_parsing', end_time: 'datetime_parsing' },
    ],
    [`${RANGE}&workspace_ids=${WORKSPACE}&group_by=model`, { group_by: 'enum' }],
    [`${RANGE}&workspace_ids=${WORKSPACE}&group_by=Project`, { group_by: 'enum' }],
  ])('USAGE-4: answers 422 in FastAPI shape to %s', async (search, faults) => {
    for (const path of [COUNTS, `${COUNTS}/export`]) {
      const answer = await fixture.request(`${path}?${search}`)
      const { detail } = (await answer.json()) as { detail: unknown[] }
      expect(answer.status).toBe(422)
      expect(detail).toEqual(
        Object.entries(faults).map(([name, type]) => ({
          loc: ['query', name],
          msg: expect.any(String),
          type,
        })),
      )
    }
  })

  it('USAGE-4: answers 422 with one sentence when the range ends before it starts', async () => {
    const range = 'start_time=2026-01-15T00:00:00Z&end_time=2026-01-15T00:00:00Z'
    for (const path of [COUNTS, `${COUNTS}/export`, DETAILS, `${DETAILS}/export`]) {
      const answer = await fixture.request(`${path}?${range}&workspace_ids=${FOREIGN}`)
      expect(answer.status).toBe(422)
      expect(await answer.json()).toMatchObject({
        detail: 'end_time must be after start_time',
        code: 'invalid_request',
      })
    }
  })

  it('answers 503 with Retry-After when the store is unreachable', async () => {
    fixture.deps.usage!.counts.count = () => Promise.reject(new AppError('store_unavailable'))
    const answer = await fixture.request(`${COUNTS}?${RANGE}&workspace_ids=${WORKSPACE}`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  })

  it('answers with /api, with /api/v1 and without a prefix', async () => {
    for (const prefix of ['', '/api', '/api/v1']) {
      const path = COUNTS.replace('/api/v1', prefix)
      expect((await fixture.request(`${path}?${RANGE}&workspace_ids=${WORKSPACE}`)).status).toBe(200)
    }
  })
})

it('USAGE-1: needs organization:read, which a user does not have', async () => {
  const statuses = async (role: 'viewer' | 'user'): Promise<number[]> => {
    const headers = { 'x-api-key': await addKey(role, [WORKSPACE]) }
    const paths = [COUNTS, `${COUNTS}/export`, DETAILS, `${DETAILS}/export`]
    const answers = paths.map((path) =>
      fixture.request(`${path}?${RANGE}&workspace_ids=${WORKSPACE}`, { headers }),
    )
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  expect(await statuses('viewer')).toEqual([200, 200, 200, 200])
  expect(await statuses('user')).toEqual([403, 403, 403, 403])
})

describe('USAGE-9: only readable workspaces', () => {
  it('are counted; others are left out without an error, also when they are named', async () => {
    await addWorkspace(OTHER, 'Other')
    const key = await addKey('viewer', [WORKSPACE])
    const all = `${RANGE}&workspace_ids=${WORKSPACE},${OTHER},${FOREIGN}`
    expect(total(await read(all))).toBe(3)
    expect(total(await read(all, key))).toBe(1)
    expect(await read(`${RANGE}&workspace_ids=${OTHER}`, key)).toEqual({
      stride: { days: 1, hours: 0 },
      usage: [],
    })
    expect(asked.map(({ workspace_ids }) => workspace_ids)).toEqual([[WORKSPACE, OTHER], [WORKSPACE]])
  })

  it('a deleted one under its last name, to keys of all workspaces', async () => {
    await addWorkspace(OTHER, 'Gone')
    const restricted = await addKey('admin', [WORKSPACE])
    await fixture.deps.identity.deleteWorkspace(ORGANIZATION, OTHER, ACTOR)
    fixture.deps.authenticator.forgetAll()
    const search = `${RANGE}&workspace_ids=${OTHER},${FOREIGN}`
    const { usage } = await read(search)
    expect(usage.map(({ dimensions }) => dimensions['workspace_name'])).toEqual(['Gone', 'Gone'])
    expect((await read(search, restricted)).usage).toEqual([])
    expect((await read(search, await addKey('viewer', [WORKSPACE]))).usage).toEqual([])
  })
})

describe('USAGE-10: the CSV export', () => {
  it('is a download with the same numbers', async () => {
    await fixture.postJson('/sessions', { id: TRACES[0]!.project_id, name: '=cmd|x' })
    const search = `${RANGE}&workspace_ids=${WORKSPACE}&group_by=project`
    const answer = await fixture.request(`${COUNTS}/export?${search}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="granular-usage_project_2026-01-15_2026-01-16.csv"',
    )
    const rows: Record<string, string>[] = parse(await answer.text(), { columns: true })
    const { usage } = await read(search)
    expect(rows).toMatchObject(
      usage.map(({ time_bucket, traces }) => ({
        'Time Bucket Start': time_bucket,
        'Time Bucket End': '2026-01-16T00:00:00Z',
        'Project ID': TRACES[0]!.project_id,
        'Project Name': '\t=cmd|x',
        Traces: String(traces),
      })),
    )
  })
})

describe('USAGE-12: the switches', () => {
  it('make every usage endpoint answer 404, whatever else is wrong with the request', async () => {
    await fixture.stop()
    fixture = await startApp()
    for (const path of [COUNTS, `${COUNTS}/export`, DETAILS, `${DETAILS}/export`]) {
      for (const search of ['', `${RANGE}&workspace_ids=${WORKSPACE}`]) {
        const answer = await fixture.request(`${path}?${search}`)
        expect(answer.status).toBe(404)
        expect(await answer.json()).toMatchObject({
          code: 'usage_disabled',
          detail: expect.stringMatching(/^Granular usage reporting is not enabled/),
        })
      }
    }
    expect((await fetch(fixture.url + COUNTS)).status).toBe(401)
  })
})

describe('GET usage-details', () => {
  it('USAGE-14: returns tokens and costs, by model too', async () => {
    const search = `${RANGE}&workspace_ids=${WORKSPACE},${FOREIGN}`
    const answer = await fixture.request(`${DETAILS}?${search}&group_by=model`)
    const body: unknown = await answer.json()
    expect(createRegistry().check('usage-details', body)).toMatchObject({ ok: true })
    expect(body).toEqual({
      stride: { days: 1, hours: 0 },
      usage: [
        {
          time_bucket: '2026-01-15T00:00:00Z',
          dimensions: { provider: 'openai', model: '=odd', base_model: '=odd' },
          llm_runs: 1,
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 15,
          prompt_cost: null,
          completion_cost: null,
          total_cost: '0.5',
          estimated_prompt_tokens: 10,
          estimated_completion_tokens: 0,
          estimated_cost: '0.25',
          unpriced_runs: 1,
          unpriced_tokens: 7,
          units: { web_searches: 2 },
        },
      ],
    })
    const csv = await (await fixture.request(`${DETAILS}/export?${search}&group_by=model`)).text()
    const rows: Record<string, string>[] = parse(csv, { columns: true })
    expect(rows).toMatchObject([
      { Provider: 'openai', Model: '\t=odd', 'Total Cost': '0.5', 'Prompt Cost': '' },
    ])
    expect(askedDetails.map(({ workspace_ids }) => workspace_ids)).toEqual([[WORKSPACE], [WORKSPACE]])
    const byWorkspace: unknown = await (await fixture.request(`${DETAILS}?${search}`)).json()
    expect(byWorkspace).toMatchObject({ usage: [{ dimensions: { workspace_name: 'Default' } }] })
  })
})
