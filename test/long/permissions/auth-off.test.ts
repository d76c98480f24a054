import { fileURLToPath } from 'node:url'
import { Client as DeploymentClient } from '@langchain/langgraph-sdk'
import { Client, RunTree } from 'langsmith'
import { describe, expect, it, vi } from 'vitest'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Every route is called with every kind of key.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const server = useWeir({ AUTH: 'off', GRAPHS, DEPLOYMENT_NAME: 'fixtures' })

describe('IDENTITY-14: AUTH=off', () => {
  it('accepts unmodified clients on this machine without a key', async () => {
    const weir = server.current()
    for (const apiUrl of [weir.deploymentUrl, `${weir.url}/deployments/fixtures`]) {
      const client = new DeploymentClient({ apiUrl, apiKey: null })
      const { thread_id } = await client.threads.create()
      const answer = await client.runs.wait(thread_id, 'tokens', { input: { tokens: 2 } })
      expect(answer).toMatchObject({ done: true })
    }
    const client = new Client({ apiUrl: weir.url, apiKey: 'any' })
    const run = new RunTree({ name: 'plain', run_type: 'chain', client, inputs: { a: 1 } })
    await run.postRun()
    await run.end({ b: 2 })
    await run.patchRun()
    await client.awaitPendingTraceBatches()
    await drained(weir)
    expect(await weir.json(`/api/v1/runs/${run.id}`)).toMatchObject({ name: 'plain', outputs: { b: 2 } })
  })

  it('lets pages of this machine call the deployment at its own port, and no others', async () => {
    const weir = server.current()
    const search = async (base: string, origin: string) => {
      const headers = { 'content-type': 'application/json', origin }
      const answer = await fetch(`${base}/threads/search`, { method: 'POST', headers, body: '{}' })
      await answer.body?.cancel()
      return [answer.status, answer.headers.get('access-control-allow-origin')]
    }
    const here = 'http://localhost:3000'
    expect(await search(weir.deploymentUrl, here)).toEqual([200, here])
    expect(await search(weir.deploymentUrl, 'https://evil.example')).toEqual([403, null])
    expect(await search(`${weir.url}/deployments/fixtures`, here)).toEqual([403, null])
    const typed = await fetch(`${weir.deploymentUrl}/threads`, { method: 'POST', body: '{}' })
    expect([typed.status, await typed.json()]).toMatchObject([415, { code: 'unsupported_media_type' }])
  })
})
