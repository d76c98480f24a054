import { beforeEach, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually, CONDITION_MS } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { useClientSetup } from '../langsmith/js/client-setup.ts'
import { inLong } from '../../support/length.ts'

const setup = useClientSetup()

interface Limit {
  id: string
  workspace_id: string | null
  limit_value: number
  mode: string
}

/** Requests go through the proxy, so that every answer is compared with the OpenAPI document. */
async function ask(method: string, path: string, body?: unknown): Promise<Response> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = { 'content-type': 'application/json' }
  return await setup().weir.request(`${setup().proxy.url}/api/v1${path}`, { method, headers, ...json })
}

/** A trace of one root that has not ended. */
function trace() {
  const id = newUuid()
  return {
    id,
    trace_id: id,
    name: 'root',
    run_type: 'chain',
    start_time: new Date().toISOString(),
    inputs: {},
  }
}

const post = (...traces: object[]): Promise<Response> =>
  ask('POST', '/runs/batch', { post: traces, patch: [] })

const monthOf = (date: Date): number => Date.UTC(date.getUTCFullYear(), date.getUTCMonth())

/** The month must not end between sending and counting the traces of a test. */
async function earlyEnoughInTheMonth(): Promise<void> {
  const soon = new Date(Date.now() + CONDITION_MS)
  await eventually(async () => expect(monthOf(new Date())).toBe(monthOf(soon)), 2 * CONDITION_MS)
}

/** A limit on the only workspace, which allows this many more traces. */
async function limitTo(more: number, mode: string): Promise<Limit> {
  await drained(setup().weir)
  const start = new Date(monthOf(new Date())).toISOString()
  const end = new Date(Date.now() + 3_600_000).toISOString()
  const [workspace] = (await (await ask('GET', '/workspaces')).json()) as { id: string }[]
  const search = new URLSearchParams({ start_time: start, end_time: end, workspace_ids: workspace!.id })
  const answer = await ask('GET', `/orgs/current/billing/granular-usage?${search.toString()}`)
  const { usage } = (await answer.json()) as { usage: { traces: number }[] }
  const sent = usage.reduce((sum, { traces }) => sum + traces, 0)
  const set = await ask('PUT', '/usage-limits', { limit_value: sent + more, mode })
  expect(set.status).toBe(200)
  return (await set.json()) as Limit
}

describe('monthly limits', () => {
  beforeEach(async () => {
    await earlyEnoughInTheMonth()
    const limits = (await (await ask('GET', '/usage-limits')).json()) as Limit[]
    for (const { id } of limits) expect((await ask('DELETE', `/usage-limits/${id}`)).status).toBe(204)
  })

  it('USAGE-16 refuses new traces with the time of the reset, and accepts operations of counted ones', async () => {
    const limit = await limitTo(2, 'hard')
    const known = trace()
    expect((await post(known)).status).toBe(202)
    expect((await post(trace(), trace())).status).toBe(202)
    const refused = await post(trace())
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ code: 'usage_limit_reached' })
    const wait = Number(refused.headers.get('retry-after'))
    const reset = new Date(Date.now() + wait * 1000)
    expect([reset.getUTCDate(), wait > 0]).toEqual([1, true])
    const end = { end_time: new Date().toISOString(), outputs: {} }
    const update = { ...end, id: known.id, trace_id: known.id }
    const both = await ask('POST', '/runs/batch', { post: [trace()], patch: [update] })
    expect(both.status).toBe(429)
    const read = () => setup().weir.json<{ status: string }>(`/api/v1/runs/${known.id}`)
    await eventually(async () => expect((await read()).status).toBe('success'))
    expect((await ask('PATCH', `/runs/${known.id}`, end)).status).toBe(202)
    expect((await ask('DELETE', `/usage-limits/${limit.id}`)).status).toBe(204)
    expect((await post(trace())).status).toBe(202)
  })

  inLong(() => {
    it('USAGE-15 warns with every response when the limit is soft', async () => {
      await limitTo(1, 'soft')
      expect((await post(trace())).headers.get('weir-usage-warning')).toBeNull()
      const warned = await post(trace())
      expect(warned.status).toBe(202)
      expect(warned.headers.get('weir-usage-warning')).toMatch(/reached its limit of \d+ traces this month/)
    })
  })

  it('keeps one limit for each workspace, and treats workspaces of others as unknown', async () => {
    await limitTo(100, 'hard')
    await limitTo(200, 'soft')
    const limits = (await (await ask('GET', '/usage-limits')).json()) as Limit[]
    expect(limits).toEqual([expect.objectContaining({ mode: 'soft' })])
    const foreign = await ask('PUT', '/usage-limits', { workspace_id: newUuid(), limit_value: 1 })
    expect(foreign.status).toBe(404)
    expect((await ask('PUT', '/usage-limits', { api_key_id: newUuid(), limit_value: 1 })).status).toBe(404)
    expect((await ask('DELETE', `/usage-limits/${newUuid()}`)).status).toBe(404)
  })
})
