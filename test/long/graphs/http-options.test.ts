import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { API_KEY } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { twinOf } from '../../support/servers/weir-pool.ts'
import { refusal } from '../../conformance/deployments/use-deployment.ts'

const GRAPHS = fileURLToPath(
  new URL(`../../fixtures/${twinOf('http-graphs')}/langgraph.json`, import.meta.url),
)

describe('langgraph.json, http', () => {
  const { current } = useWeir({ GRAPHS, DEPLOYMENT_NAME: 'options', DEPLOYMENT_PORT: '0' })
  const bases = (): string[] => [new URL('/deployments/options', current().url).href, current().deploymentUrl]

  function get(url: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(url, { headers: { 'x-api-key': API_KEY, ...headers } })
  }

  it('mount_prefix is in front of every path, on both listeners', async () => {
    for (const base of bases()) {
      const client = new Client({ apiUrl: `${base}/chat/v1`, apiKey: API_KEY })
      const { thread_id } = await client.threads.create()
      const answer = await get(`${base}/chat/v1/threads/${thread_id}`)
      expect(answer.status).toBe(200)
      expect((await get(`${base}/threads/${thread_id}`)).status).toBe(404)
      expect((await get(`${base}/chat/v1x/threads/${thread_id}`)).status).toBe(404)
      for (const path of ['/ok', '/chat/v1/ok', '/chat/v1/info'])
        expect((await get(base + path)).status).toBe(200)
      expect(await client.runs.wait(thread_id, 'whoami', { input: {} })).toMatchObject({ user: null })
    }
  })

  it('disable_… leaves routes out, also of the OpenAPI document', async () => {
    const [base = ''] = bases()
    const client = new Client({ apiUrl: `${base}/chat/v1`, apiKey: API_KEY })
    expect(await refusal(client.store.getItem(['a'], 'k'))).toMatchObject({ status: 404, code: 'not_found' })
    expect(await refusal(client.assistants.search())).toMatchObject({ status: 404, code: 'not_found' })
    const { paths } = (await (await get(`${base}/chat/v1/openapi.json`)).json()) as { paths: object }
    const firsts = new Set(Object.keys(paths).map((path) => path.split('/')[1]))
    expect(firsts).toContain('threads')
    expect(firsts).not.toContain('store')
    expect(firsts).not.toContain('assistants')
  })

  it('configurable_headers limit the headers that graphs can read', async () => {
    const [base = ''] = bases()
    const defaultHeaders = { 'x-trace-id': 't1', 'x-trace-secret': 's', 'x-other': 'o' }
    const client = new Client({ apiUrl: `${base}/chat/v1`, apiKey: API_KEY, defaultHeaders })
    const { thread_id } = await client.threads.create()
    const { run_id } = await client.runs.create(thread_id, 'whoami', { input: {} })
    const run = (await client.runs.get(thread_id, run_id)) as unknown as {
      kwargs: { config: { configurable: Record<string, unknown> } }
    }
    const { configurable } = run.kwargs.config
    expect(configurable).toMatchObject({ 'x-trace-id': 't1' })
    for (const name of ['x-trace-secret', 'x-other', 'user-agent', 'x-api-key'])
      expect(configurable).not.toHaveProperty(name)
  })

  it('cors allows the origins that it names', async () => {
    const [base = ''] = bases()
    const allowed = await get(`${base}/chat/v1/ok`, { origin: 'https://app.example.com' })
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
    const other = await get(`${base}/chat/v1/ok`, { origin: 'https://evil.example.com' })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })
})
