import type { Client } from 'langsmith'
import { traceable } from 'langsmith/traceable'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { eventually } from '../../support/eventually.ts'
import { makeClient, readEnded, useClientSetup } from '../langsmith/js/client-setup.ts'
import { inLong } from '../../support/length.ts'

const setup = useClientSetup()
const JSON_BODY = { 'content-type': 'application/json' }
type Job = SchemaTypes['deletion-job']
let client: Client

beforeAll(() => {
  client = makeClient(setup())
})

async function trace(project_name: string, name = 'root'): Promise<string> {
  const id = newUuid()
  const traced = { client, tracingEnabled: true, project_name }
  const child = traceable(() => 'x', { name: 'child', ...traced })
  await traceable(() => child(), { name, id, ...traced })()
  await readEnded(client, id)
  return id
}

const ask = (path: string, method: string, body?: unknown): Promise<Response> =>
  setup().weir.request(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: JSON_BODY }),
  })

async function statusOf(id: string): Promise<number> {
  return (await ask(`/api/v1/runs/${id}`, 'GET')).status
}

const gone = (id: string): Promise<void> => eventually(async () => expect(await statusOf(id)).toBe(404))

describe('deleting', () => {
  it('a project is deleted with its runs and feedback, and others are not', async () => {
    const mine = await trace('doomed')
    const other = await trace('spared')
    await client.createFeedback(mine, 'quality', {
      score: 1,
      sessionId: (await readEnded(client, mine)).session_id,
    })
    await client.deleteProject({ projectName: 'doomed' })
    expect(await client.hasProject({ projectName: 'doomed' })).toBe(false)
    await gone(mine)
    expect(await statusOf(other)).toBe(200)
    expect(await (await ask(`/api/v1/feedback?run=${mine}`, 'GET')).json()).toEqual([])
    // After the deletion the name can be used for new traces.
    expect(await statusOf(await trace('doomed'))).toBe(200)
  })

  it('a trace that is sent again stays deleted, and the response says so', async () => {
    const [id, other] = [await trace('p'), newUuid()]
    const answer = await ask(`/api/v1/traces/${id}`, 'DELETE')
    expect([answer.status, await answer.json()]).toMatchObject([202, { kind: 'trace' }])
    await gone(id)
    const run = (run_id: string, trace_id = run_id) => ({
      id: run_id,
      trace_id,
      name: 'again',
      run_type: 'chain',
      start_time: new Date().toISOString(),
      session_name: 'p',
    })
    const again = await ask('/api/v1/runs/batch', 'POST', { post: [run(id), run(other)] })
    const outcome = { run_id: id, code: 'trace_deleted', field: 'id' }
    expect([again.status, await again.json()]).toMatchObject([202, { accepted: 1, rejected: [outcome] }])
    const alone = await ask('/api/v1/runs', 'POST', run(id))
    expect([alone.status, await alone.json()]).toMatchObject([409, { code: 'trace_deleted' }])
    const judged = await ask('/api/v1/feedback', 'POST', { run_id: id, key: 'k', score: 1 })
    expect(judged.status).toBe(409)
    await eventually(async () => expect(await statusOf(other)).toBe(200))
    expect(await statusOf(id)).toBe(404)
    expect((await ask(`/api/v1/traces/${newUuid()}`, 'DELETE')).status).toBe(404)
  })

  inLong(() => {
    it('runs that match are deleted in the background, with whole traces', async () => {
      const [bad, good] = [await trace('mixed', 'bad'), await trace('mixed', 'good')]
      const { id: session } = await client.readProject({ projectName: 'mixed' })
      const answer = await ask('/api/v1/runs/delete', 'POST', { session, filter: 'eq(name, "bad")' })
      expect(answer.status).toBe(202)
      const { job_id } = (await answer.json()) as Job
      await gone(bad)
      await eventually(async () => {
        const job = (await (await ask(`/api/v1/runs/delete/${job_id}`, 'GET')).json()) as Job
        expect(job).toMatchObject({ status: 'done', deleted: 2, error: null })
      })
      expect(await statusOf(good)).toBe(200)
      const wrong = await ask('/api/v1/runs/delete', 'POST', { session, filter: 'eq(' })
      expect(wrong.status).toBe(422)
    })
  })
})

inLong(() => {
  it('a project has its retention in days or as a tier', async () => {
    const { id } = await client.createProject({ projectName: 'kept' })
    const change = async (body: object): Promise<unknown> =>
      await (await ask(`/api/v1/sessions/${id}`, 'PATCH', body)).json()
    expect(await change({})).toMatchObject({ trace_tier: null, retention_days: null })
    const short = { trace_tier: 'shortlived', retention_days: 14 }
    expect(await change({ trace_tier: 'SHORT_LIVED' })).toMatchObject(short)
    expect(await change({ retention_days: 3 })).toMatchObject({ retention_days: 3 })
    expect(await change({ retention_days: 0 })).toMatchObject({ retention_days: null })
  })
})
