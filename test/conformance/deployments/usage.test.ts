import { expect, it } from 'vitest'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { useDeployment } from './use-deployment.ts'

const setup = useDeployment()

interface Line {
  time_bucket: string
  dimensions: Record<string, string | null>
  agent_runs: number
  nodes_executed: number
}

async function platform<T>(path: string, body?: object): Promise<T> {
  const { weir } = setup()
  const headers = { 'x-api-key': weir.key, 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${weir.url}/api/v1${path}`, { headers, ...init })
  const text = await answer.text()
  expect([path, answer.status]).toEqual([path, 200])
  return (answer.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text) as T
}

/** `weir usage --kind deployments …` for the last minute. */
async function weirUsage(...args: string[]): Promise<CommandEnd> {
  const { url, key } = setup().weir
  const range = ['--from', new Date(Date.now() - 60_000).toISOString()]
  const env = { WEIR_URL: url, WEIR_API_KEY: key }
  return await runCommand(['usage', '--kind', 'deployments', ...range, ...args], { env })
}

it('USAGE-20: granular-usage with kind=langsmith_deployments counts the runs of a key and their nodes', async () => {
  const [workspace] = await platform<{ id: string }[]>('/workspaces')
  const made = await platform<{ key: string; short_key: string }>('/orgs/current/service-keys', {
    description: 'usage of deployments',
  })
  const headers = { 'x-api-key': made.key, 'content-type': 'application/json' }
  const send = (method: string, path: string, body?: object) =>
    setup().request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const { thread_id } = (await (await send('POST', '/threads', {})).json()) as { thread_id: string }
  for (const [place, kind] of [
    [`/threads/${thread_id}`, 'sub'],
    [`/threads/${thread_id}`, 'fail'],
    ['', 'plain'],
  ]) {
    const run = await send('POST', `${place}/runs/wait`, { assistant_id: 'kinds', input: { kind } })
    expect(run.status).toBe(200)
  }
  expect((await send('DELETE', `/threads/${thread_id}`)).status).toBe(204)

  const query = (group_by: string) =>
    String(
      new URLSearchParams({
        kind: 'langsmith_deployments',
        group_by,
        start_time: new Date(Date.now() - 60_000).toISOString(),
        end_time: new Date(Date.now() + 60_000).toISOString(),
        workspace_ids: workspace?.id ?? '',
      }),
    )
  const path = '/orgs/current/billing/granular-usage'
  const report = await platform<{ stride: object; usage: Line[] }>(`${path}?${query('api_key')}`)
  const mine = report.usage.filter(({ dimensions }) => dimensions['api_key_short_key'] === made.short_key)
  const sum = (field: 'agent_runs' | 'nodes_executed') => mine.reduce((all, line) => all + line[field], 0)
  expect([report.stride, sum('agent_runs'), sum('nodes_executed')]).toEqual([{ days: 0, hours: 1 }, 3, 9])
  const byDeployment = await platform<{ usage: Line[] }>(`${path}?${query('project')}`)
  expect(byDeployment.usage.map(({ dimensions }) => dimensions['project_name'])).toContain(DEPLOYMENT_NAME)
  const csv = await platform<string>(`${path}/export?${query('api_key')}`)
  expect(csv.split('\r\n')[0]).toMatch(/,API Key Short Key,Nodes Executed,Agent Runs$/)
  expect(csv).toContain(`,${made.short_key},`)

  const json = JSON.parse(
    (await weirUsage('--group-by', 'api_key', '--format', 'json')).stdout,
  ) as typeof report
  expect(json.usage.filter(({ dimensions }) => dimensions['api_key_short_key'] === made.short_key)).toEqual(
    mine,
  )
  expect((await weirUsage('--group-by', 'api_key', '--format', 'csv')).stdout).toContain(
    `,${made.short_key},`,
  )
  const table = (await weirUsage('--group-by', 'project')).stdout
  expect(table).toMatch(
    /^Runs of deployments per hour \(UTC\)[^]*By deployment[^]*Total {2}\d+ runs {2}\d+ nodes$/m,
  )
  for (const [flags, message] of [
    [['--details'], /has no tokens and costs/],
    [['--group-by', 'model'], /has no tokens and costs/],
    [['--kind', 'runs'], /--kind/],
  ] as const)
    expect(await weirUsage(...flags)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message) as string,
    })
})
