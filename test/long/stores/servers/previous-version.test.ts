import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../../support/stores/clickhouse/embedded-clickhouse.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../../support/servers/weir-process.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const DATA = fileURLToPath(new URL('../../../fixtures/previous-version/data.tar.gz', import.meta.url))
const D = '/deployments/d'
const RUN = '01a1f831-38cd-7000-8000-000000000001'
const THREAD = '01a1f831-38cd-7000-8000-00000000000a'
const ASSISTANT = '01a1f831-38cd-7000-8000-00000000000b'

let weir: WeirProcess
let dir: Awaited<ReturnType<typeof temporaryDir>>
beforeAll(async () => {
  dir = await temporaryDir()
  execFileSync('tar', ['-xzf', DATA, '-C', dir.dir])
  weir = await startWeir(dir.dir, { GRAPHS: 'examples/graphs/langgraph.json', DEPLOYMENT_NAME: 'd' })
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
  await dir.remove()
})

it('data that an earlier version has stored can be read, and is continued', async () => {
  expect(await weir.json(`/api/v1/runs/${RUN}`)).toMatchObject({ name: 'from the version before' })
  expect(await weir.json('/api/v1/sessions?name=before')).toMatchObject([{ name: 'before', run_count: 1 }])
  const thread = `${D}/threads/${THREAD}`
  expect(await weir.json(thread)).toMatchObject({ status: 'idle', metadata: { of: 'before' } })
  expect(await weir.json(`${thread}/runs`)).toMatchObject([{ status: 'success' }])
  const history = await weir.json<unknown[]>(`${thread}/history`)
  expect(history.length).toBeGreaterThan(1)
  expect(await weir.json(`${D}/store/items?namespace=a&key=k`)).toMatchObject({ value: { v: 1 } })
  expect(await weir.json(`${D}/assistants/${ASSISTANT}`)).toMatchObject({ name: 'mine' })
  expect(await weir.json(`${D}/runs/crons/search`, jsonBody('POST', {}))).toMatchObject([
    { schedule: '0 0 1 1 *' },
  ])

  const messages = [{ role: 'user', content: 'And again' }]
  const request = jsonBody('POST', { assistant_id: 'agent', input: { messages } })
  const values = await weir.json<{ messages: unknown[] }>(`${thread}/runs/wait`, request)
  expect(values.messages).toHaveLength(4)
  expect((await weir.json<unknown[]>(`${thread}/history?limit=100`)).length).toBeGreaterThan(history.length)
})
