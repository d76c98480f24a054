import { describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'

const weir = useWeir()

interface Answered<T> {
  status: number
  body: T
}

async function send<T>(method: string, path: string, body?: unknown): Promise<Answered<T>> {
  const headers = { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
  const answer = await weir.current().request(`/api/v1${path}`, { method, ...sent })
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
}

async function makeTrace(session_name: string): Promise<string> {
  const id = newUuid()
  const start_time = new Date().toISOString()
  await send('POST', '/runs', { id, name: 'r', run_type: 'chain', start_time, inputs: {}, session_name })
  await drained(weir.current())
  return id
}

describe('routes of LangSmith that only its documents name', () => {
  it.each(['/api-key', '/api-key/current'])('%s makes, lists and revokes keys', async (path) => {
    const made = await send<{ id: string; key: string; short_key: string }>('POST', path, {
      description: 'd',
    })
    // The key of a shared server is a service key, which has no user and so no personal tokens.
    if (path === '/api-key/current' && made.status === 422) return
    expect(made.status).toBe(200)
    const list = await send<{ id: string; key?: string }[]>('GET', path)
    expect(list.body.find(({ id }) => id === made.body.id)).toMatchObject({ short_key: made.body.short_key })
    expect(list.body.every((one) => one.key === undefined)).toBe(true)
    expect((await send('DELETE', `${path}/${made.body.id}`)).status).toBe(204)
    const left = await send<{ id: string }[]>('GET', path)
    expect(left.body.map(({ id }) => id)).not.toContain(made.body.id)
  })

  it('read one workspace, its members, its numbers and how long it keeps traces', async () => {
    const [own] = (await send<{ id: string }[]>('GET', '/workspaces')).body
    const tenant_id = own!.id
    expect(await send('GET', `/workspaces/${tenant_id}`)).toEqual({ status: 200, body: own })
    expect((await send('GET', `/workspaces/${newUuid()}`)).status).toBe(404)
    const members = await send<{ members: object[] }>('GET', '/workspaces/current/members')
    expect(members).toMatchObject({ status: 200, body: { tenant_id, pending: [] } })
    expect(members.body.members).toEqual((await send('GET', '/orgs/current/members')).body)
    await makeTrace(`counted-${newUuid()}`)
    const stats = await send<{ tracer_session_count: number }>('GET', '/workspaces/current/stats')
    expect(stats.body).toMatchObject({ tenant_id, dataset_count: 0 })
    expect(stats.body.tracer_session_count).toBeGreaterThan(0)
    for (const path of ['/ttl-settings', '/orgs/ttl-settings', '/workspaces/current/ttl-settings'])
      expect((await send('GET', path)).body).toMatchObject([{ default_trace_tier: 'longlived' }])
  })

  it('count the traces of the organization as granular-usage does', async () => {
    await makeTrace(`billed-${newUuid()}`)
    const [own] = (await send<{ id: string }[]>('GET', '/workspaces')).body
    const [from, to] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString())
    const sums = async () => {
      const usage = await send<{ value: number; groups: Record<string, number> }[]>(
        'GET',
        `/orgs/current/billing/usage?starting_on=${from}&ending_before=${to}`,
      )
      const reported = await send<{ usage: { traces: number }[] }>(
        'GET',
        `/orgs/current/billing/granular-usage?start_time=${from}&end_time=${to}&workspace_ids=${own!.id}`,
      )
      return {
        billed: usage.body.reduce((sum, { groups }) => sum + (groups[own!.id] ?? 0), 0),
        reported: reported.body.usage.reduce((sum, { traces }) => sum + traces, 0),
      }
    }
    await eventually(async () => {
      const { billed, reported } = await sums()
      expect(reported).toBeGreaterThan(0)
      expect(billed).toBe(reported)
    })
    expect((await send('GET', '/orgs/current/billing/usage')).status).toBe(422)
  })

  it('delete several projects, or none', async () => {
    const [one, two] = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const made = await send<{ id: string }>('POST', '/sessions', { name: `${name}-${newUuid()}` })
        return made.body.id
      }),
    )
    expect((await send('DELETE', '/sessions', [one, newUuid()])).status).toBe(404)
    expect((await send('GET', `/sessions/${one}`)).status).toBe(200)
    expect(await send('DELETE', '/sessions', { session_ids: [one, two] })).toMatchObject({
      status: 202,
      body: [{ kind: 'project' }, { kind: 'project' }],
    })
    expect((await send('GET', `/sessions/${one}`)).status).toBe(404)
  })

  it('delete traces, those of the named project only', async () => {
    const name = `deleted-${newUuid()}`
    const id = await makeTrace(name)
    const [session_id, other] = await Promise.all(
      [name, `${name}-2`].map(async (one) => {
        const made = await send<{ id: string }>('POST', '/sessions?upsert=true', { name: one })
        return made.body.id
      }),
    )
    const missed = await send('POST', '/runs/delete/traces', { trace_ids: [id], session_id: other })
    expect(missed).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const deleted = await send('POST', '/runs/delete/traces', { trace_ids: [newUuid(), id], session_id })
    expect(deleted).toMatchObject({ status: 202, body: [{ kind: 'trace' }] })
    await eventually(async () => expect((await send('GET', `/runs/${id}`)).status).toBe(404))
  })

  it('say how much of the disk is free', async () => {
    const { body } = await send<{ clickhouse_disk_free_pct: number }>('GET', '/info/health')
    expect(body.clickhouse_disk_free_pct).toBeGreaterThan(0)
    expect(body.clickhouse_disk_free_pct).toBeLessThanOrEqual(100)
  })
})
