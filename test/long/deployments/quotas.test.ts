import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { API_KEY } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { refusal } from '../../conformance/deployments/use-deployment.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))

describe('a workspace that has reached its quotas', () => {
  const { current } = useWeir({
    GRAPHS,
    DEPLOYMENT_NAME: 'quotas',
    WORKSPACE_MAX_THREADS: '3',
    WORKSPACE_MAX_CRONS: '1',
    WORKSPACE_MAX_STORE_BYTES: '100',
  })
  const clientOf = (): Client =>
    new Client({ apiUrl: current().deploymentUrl, apiKey: API_KEY, callerOptions: { maxRetries: 0 } })

  it('gets errors in clients and graphs, can read and delete its data, and can then create again', async () => {
    const client = clientOf()
    const { thread_id } = await client.threads.create()
    await client.crons.create('tokens', { schedule: '0 0 1 1 *' })
    expect(await refusal(client.crons.create('tokens', { schedule: '0 0 1 1 *' }))).toMatchObject({
      status: 429,
      code: 'quota_reached',
    })
    const text = 'x'.repeat(75)
    await client.store.putItem(['a'], 'k', { text })
    const full = { status: 507, code: 'store_full' }
    expect(await refusal(client.store.putItem(['a'], 'other', { text }))).toMatchObject(full)
    // A graph that writes to the store.
    const failed = await client.runs.create(thread_id, 'kinds', { input: { kind: 'store' } })
    await client.runs.join(thread_id, failed.run_id)
    expect(await client.runs.get(thread_id, failed.run_id)).toMatchObject({ status: 'error' })
    expect(await client.store.getItem(['a'], 'k')).toMatchObject({ value: { text } })
    await client.store.deleteItem(['a'], 'k')
    await client.store.putItem(['a'], 'other', { n: 1 })

    await client.threads.create()
    const { thread_id: last } = await client.threads.create()
    const none = { status: 429, code: 'quota_reached' }
    expect(await refusal(client.threads.create())).toMatchObject(none)
    expect(await refusal(client.runs.create(null, 'tokens', { input: {} }))).toMatchObject(none)
    expect(await client.threads.search()).toHaveLength(3)
    await client.threads.delete(last)
    await client.threads.create()
    await eventually(async () =>
      expect(await (await current().request('/metrics')).text()).toContain(
        'weir_workspace_used{quota="crons"} 1',
      ),
    )
  })
})
