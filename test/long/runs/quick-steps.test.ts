import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startWeir } from '../../support/servers/server.ts'
import { eventually } from '../../support/eventually.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/studio-graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/quick'

interface Checkpoint {
  values: { i?: number }
}

it('a run of steps that wait for nothing is stored as it goes, leaves time to another run, and can be cancelled', async () => {
  const weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: 'quick' })
  onTestFinished(async () => void (await weir.stop()))
  const { thread_id } = await weir.json<{ thread_id: string }>(`${BASE}/threads`, {})
  const thread = `${BASE}/threads/${thread_id}`
  // Two million steps take far longer than the test. At 64 KB a step, they would take far more memory than a process
  // has.
  const { run_id } = await weir.json<{ run_id: string }>(`${thread}/runs`, {
    assistant_id: 'busy',
    input: { steps: 2e6, chars: 1 << 16, messages: [] },
    config: { recursion_limit: 4e6 },
  })
  const steps = async (): Promise<number> => (await weir.json<Checkpoint>(`${thread}/state`)).values.i ?? 0
  await eventually(async () => expect(await steps()).toBeGreaterThan(10))
  const other = { assistant_id: 'busy', input: { steps: 3, messages: [] } }
  expect(await weir.json(`${BASE}/runs/wait`, other)).toMatchObject({ i: 3 })
  const before = await steps()
  await eventually(async () => expect(await steps()).toBeGreaterThan(before))
  const cancel = await weir.request(`${thread}/runs/${run_id}/cancel?wait=1`, { method: 'POST' })
  expect(cancel.status).toBe(204)
  await eventually(async () =>
    expect(await weir.json(`${thread}/runs/${run_id}`)).toMatchObject({ status: 'interrupted' }),
  )
  const stored = await steps()
  expect(stored).toBeGreaterThan(before)
  expect(await steps()).toBe(stored)
  expect(weir.errors()).toEqual([])
})

it('a run of such steps with durability exit, which stores nothing before its end, leaves time to others and to a cancel', async () => {
  const weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: 'quick' })
  onTestFinished(async () => void (await weir.stop()))
  const { thread_id } = await weir.json<{ thread_id: string }>(`${BASE}/threads`, {})
  const thread = `${BASE}/threads/${thread_id}`
  const { run_id } = await weir.json<{ run_id: string }>(`${thread}/runs`, {
    assistant_id: 'busy',
    input: { steps: 2e6, chars: 1, messages: [] },
    config: { recursion_limit: 4e6 },
    durability: 'exit',
    stream_mode: ['updates'],
    stream_resumable: true,
  })
  const run = (): Promise<{ status: string }> => weir.json(`${thread}/runs/${run_id}`)
  await eventually(async () => expect(await run()).toMatchObject({ status: 'running' }))
  const other = { assistant_id: 'busy', input: { steps: 3, messages: [] } }
  for (let i = 0; i < 3; i++) expect(await weir.json(`${BASE}/runs/wait`, other)).toMatchObject({ i: 3 })
  expect(await run()).toMatchObject({ status: 'running' })
  const cancel = await weir.request(`${thread}/runs/${run_id}/cancel?wait=1`, { method: 'POST' })
  expect(cancel.status).toBe(204)
  await eventually(async () => expect(await run()).toMatchObject({ status: 'interrupted' }))
  expect(weir.errors()).toEqual([])
})
