import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import type { UsageTraces } from '../../../src/schema/types.gen.ts'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { useClientSetup } from '../langsmith/js/client-setup.ts'
import { inLong } from '../../support/length.ts'

const DAY = 86_400_000
/** The last midnight, which is before every run of this test. */
const TODAY = Math.floor(Date.now() / DAY) * DAY
const iso = (time: number): string => new Date(time).toISOString()

const setup = useClientSetup()

interface Report {
  stride: { days: number; hours: number }
  usage: { time_bucket: string; dimensions: Record<string, string | null>; traces: number }[]
}

/** Requests go through the proxy, so that every answer is compared with the OpenAPI document. */
async function ask(path: string, body?: unknown): Promise<Response> {
  const json = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { 'content-type': 'application/json' }
  return await setup().weir.request(`${setup().proxy.url}/api/v1${path}`, { headers, ...json })
}

let workspace = ''

function search(group_by: string, from = TODAY - 7 * DAY, to = TODAY): string {
  return String(
    new URLSearchParams({ start_time: iso(from), end_time: iso(to), workspace_ids: workspace, group_by }),
  )
}

async function read<T = Report>(what: string, query: string): Promise<T> {
  const answer = await ask(`/orgs/current/billing/${what}?${query}`)
  expect(answer.status, what).toBe(200)
  return (await answer.json()) as T
}

/** A trace of a chain and an llm run in it; the child is sent first, and twice. */
async function log(start: number, session_name: string): Promise<void> {
  const trace_id = newUuid()
  const stamp = (time: number): string => iso(time).replaceAll(/[-:.]/g, '').replace('Z', '000Z')
  const common = { trace_id, session_name, end_time: iso(start + 900) }
  const root = {
    ...common,
    id: trace_id,
    name: 'root',
    run_type: 'chain',
    start_time: iso(start),
    inputs: {},
  }
  const child = newUuid()
  const order = `${stamp(start)}${trace_id}`
  const call = {
    ...common,
    id: child,
    parent_run_id: trace_id,
    name: 'call',
    run_type: 'llm',
    start_time: iso(start + 1),
    dotted_order: `${order}.${stamp(start + 1)}${child}`,
    inputs: { messages: [{ role: 'user', content: 'hi' }] },
    outputs: { role: 'assistant', content: 'ho', usage_metadata: { input_tokens: 100, output_tokens: 10 } },
    extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' } },
  }
  const batches = [{ post: [call] }, { post: [{ ...root, dotted_order: order }] }, { post: [call] }]
  for (const batch of batches) expect((await ask('/runs/batch', { patch: [], ...batch })).status).toBe(202)
}

/** `weir usage …` against the server. */
async function weirUsage(args: string[], env: Record<string, string> = {}): Promise<CommandEnd> {
  const { url, key } = setup().weir
  return await runCommand(['usage', ...args], { env: { WEIR_URL: url, WEIR_API_KEY: key, ...env } })
}

beforeAll(async () => {
  const workspaces = (await (await ask('/workspaces')).json()) as { id: string }[]
  workspace = workspaces[0]!.id
  // Two traces of the day before yesterday, one of them exactly at midnight, and one of today, which is outside the
  // range.
  await log(TODAY - 2 * DAY, 'web')
  await log(TODAY - DAY - 1, 'web')
  await log(TODAY - 3_600_000, '=batch')
  await log(TODAY, 'web')
  await drained(setup().weir)
})

async function tracesOf(group: Record<string, string>): Promise<UsageTraces['items']> {
  const found: UsageTraces['items'] = []
  let cursor: string | null = null
  do {
    const page: UsageTraces = await read(
      'usage-traces',
      String(new URLSearchParams({ ...group, limit: '1', ...(cursor !== null && { cursor }) })),
    )
    found.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return found
}

describe('the usage API', () => {
  it('USAGE-17: lists the traces that each number counts, with the reason', async () => {
    await eventually(async () => {
      const { usage } = await read('granular-usage', search('project'))
      expect(usage.map(({ traces }) => traces)).toEqual([2, 1])
    })
    for (const group_by of ['workspace', 'project', 'user', 'api_key']) {
      const { usage } = await read('granular-usage', search(group_by))
      for (const { time_bucket, dimensions, traces } of usage) {
        const { project_id, user_id, api_key_short_key } = dimensions
        const found = await tracesOf({
          ...Object.fromEntries(new URLSearchParams(search(group_by))),
          time_bucket,
          ...(typeof project_id === 'string' && { project_id }),
          ...(user_id !== undefined && { user_id: String(user_id) }),
          ...(typeof api_key_short_key === 'string' && { api_key: api_key_short_key }),
        })
        expect(new Set(found.map(({ trace_id }) => trace_id)).size).toBe(traces)
      }
    }
    const all = await tracesOf(Object.fromEntries(new URLSearchParams(search('workspace'))))
    expect(all.map(({ counted_at, project_name }) => [counted_at, project_name])).toEqual([
      [iso(TODAY - 3_600_000), '=batch'],
      [iso(TODAY - DAY - 1), 'web'],
      [iso(TODAY - 2 * DAY), 'web'],
    ])
    expect(all[0]).toMatchObject({ counted_by: 'root', time_source: 'start_time' })
    const query = Object.fromEntries(new URLSearchParams(search('workspace')))
    expect(await tracesOf({ ...query, trace_id: all[1]?.trace_id ?? '' })).toEqual([all[1]])
    expect(await tracesOf({ ...query, trace_id: newUuid() })).toEqual([])
    for (const wrong of ['time_bucket=2026-01-01T00:00:01Z', 'user_id=me', 'cursor=x']) {
      const refused = await ask(`/orgs/current/billing/usage-traces?${search('workspace')}&${wrong}`)
      expect([wrong, refused.status]).toEqual([wrong, 422])
      await refused.body?.cancel()
    }
  })

  it('USAGE-13: counts each trace once, in its bucket', async () => {
    await eventually(async () => {
      const { stride, usage } = await read('granular-usage', search('project'))
      expect(stride).toEqual({ days: 1, hours: 0 })
      expect(
        usage.map(({ time_bucket, dimensions, traces }) => [time_bucket, dimensions['project_name'], traces]),
      ).toEqual([
        [iso(TODAY - 2 * DAY).replace('.000Z', 'Z'), 'web', 2],
        [iso(TODAY - DAY).replace('.000Z', 'Z'), '=batch', 1],
      ])
    })
    const hours = await read('granular-usage', search('workspace', TODAY - DAY - 1, TODAY - 1))
    expect(hours.usage.map(({ traces }) => traces)).toEqual([1, 1])
    const exact = await read('granular-usage', search('api_key', TODAY - 2 * DAY + 1, TODAY))
    expect(exact.usage.map(({ traces }) => traces)).toEqual([1, 1])
    expect(exact.usage[0]?.dimensions).toEqual({ api_key_short_key: expect.stringContaining('...') })
    const years = await read('granular-usage', search('user', TODAY - 3650 * DAY, TODAY + DAY))
    expect(years.stride).toEqual({ days: 365, hours: 0 })
    expect(years.usage.reduce((sum, { traces }) => sum + traces, 0)).toBe(4)
  })

  inLong(() => {
    it('USAGE-10: exports the same as CSV', async () => {
      const { usage } = await read('granular-usage', search('project'))
      const path = `/orgs/current/billing/granular-usage/export?${search('project')}`
      const answer = await ask(path)
      const { headers } = await setup().weir.request(`/api/v1${path}`)
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+\.csv"$/)
      const rows: Record<string, string>[] = parse(await answer.text(), { columns: true })
      expect(
        rows.map((row) => [row['Time Bucket Start'], row['Project Name'], Number(row['Traces'])]),
      ).toEqual(
        usage.map(({ time_bucket, dimensions, traces }) => [
          time_bucket,
          String(dimensions['project_name']).replace(/^=/, '\t='),
          traces,
        ]),
      )
    })
  })

  it('USAGE-14: adds up tokens and costs, each run once', async () => {
    interface Details {
      usage: { dimensions: object; llm_runs: number; total_tokens: number; total_cost: string }[]
    }
    const { usage } = await read<Details>('usage-details', search('model', TODAY - 400 * DAY, TODAY))
    expect(usage).toMatchObject([
      {
        dimensions: { provider: 'openai', model: 'gpt-4.1-mini' },
        llm_runs: 3,
        total_tokens: 330,
        total_cost: '0.000168',
      },
    ])
    const answer = await ask(`/orgs/current/billing/usage-details/export?${search('model')}`)
    expect([answer.status, (await answer.text()).includes(',openai,gpt-4.1-mini,')]).toEqual([200, true])
  })

  it('USAGE-4, USAGE-9: refuses invalid parameters, and reveals nothing about other workspaces', async () => {
    const bad = await ask('/orgs/current/billing/granular-usage?start_time=x')
    expect([bad.status, await bad.json()]).toMatchObject([
      422,
      { detail: [{}, {}, {}], code: 'invalid_request' },
    ])
    const backwards = await ask(`/orgs/current/billing/granular-usage?${search('user', TODAY, TODAY)}`)
    expect([backwards.status, await backwards.json()]).toMatchObject([
      422,
      { detail: 'end_time must be after start_time' },
    ])
    const foreign = search('workspace').replace(workspace, newUuid())
    expect((await read('granular-usage', foreign)).usage).toEqual([])
  })
})

describe('weir usage', () => {
  it('draws a chart, and prints what the API answers', async () => {
    const table = (await weirUsage(['--group-by', 'project', '--to', iso(TODAY)])).stdout
    expect(table).toMatch(/^Traces per day \(UTC\)\n\n {2}\d{4}-\d\d-\d\d {2}█+ +2\n/)
    expect(table).toMatch(/By project\n\n {2}web +█+ +2\n {2}=batch +█+. +1\n\nTotal {2}3\n$/)
    const asked = ['--format', 'json', '--from', iso(TODAY - 7 * DAY), '--to', iso(TODAY + DAY)]
    const json: unknown = JSON.parse((await weirUsage([...asked, '--workspace', workspace])).stdout)
    expect(json).toMatchObject({ stride: { days: 1, hours: 0 } })
    const named = await weirUsage([...asked, '--workspace', 'Default'])
    expect(JSON.parse(named.stdout)).toEqual(json)
    const csv = (await weirUsage(['--from', '1y', '--group-by', 'model', '--format', 'csv'])).stdout
    expect(csv).toMatch(
      /^Time Bucket Start,.*Estimated Cost,Unpriced Runs,Unpriced Tokens,Units\r\n.*,openai,gpt-4.1-mini,4,/,
    )
    const tokens = (await weirUsage(['--details', '--from', '400d'])).stdout
    expect(tokens).toMatch(/Total {2}400 in {2}40 out {2}\$0\.000224\n$/)
  })

  it('prints the error, and exits with 2', async () => {
    expect(await weirUsage(['--from', 'soon'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^weir usage: --from must be a time such as /),
    })
    expect(await weirUsage(['--group-by', 'colour'])).toMatchObject({ code: 2 })
    expect(await weirUsage(['--workspace', 'nowhere'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no workspace "nowhere"'),
    })
    expect(await weirUsage([], { WEIR_API_KEY: 'nobody' })).toMatchObject({
      stderr: expect.stringContaining('(401)'),
    })
    expect(await weirUsage(['--url', 'http://127.0.0.1:1'])).toMatchObject({
      stderr:
        'weir usage: No server answers at http://127.0.0.1:1. Start it with npm start, or name another address with --url.\n',
    })
  })
})

inLong(() => {
  describe('with a switch off', () => {
    const off = useWeir({ GRANULAR_USAGE_TABLE_ENABLED: 'FALSE' })

    it('USAGE-12: answers 404 with usage_disabled', async () => {
      const answer = await off
        .current()
        .request(`/api/v1/orgs/current/billing/granular-usage?${search('user')}`)
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'usage_disabled' }])
    })
  })
})
