import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'

const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'
const setup = useDeployment()
const runs = () => setup().client.runs

interface Active {
  thread_id: string
  run_id: string
}

async function newThread(): Promise<string> {
  return (await setup().client.threads.create()).thread_id
}

/** A run that is executing its second step. */
async function running(thread_id?: string): Promise<Active> {
  const id = thread_id ?? (await newThread())
  const { run_id } = await runs().create(id, 'hostile', { input: { act: 'ignore' } })
  await eventually(async () => {
    expect(await runs().get(id, run_id)).toMatchObject({ status: 'running' })
    expect((await setup().client.threads.getState(id)).next).toEqual(['misbehave'])
  })
  return { thread_id: id, run_id }
}

async function pending(thread_id?: string): Promise<Active> {
  const id = thread_id ?? (await newThread())
  return { thread_id: id, run_id: (await runs().create(id, 'tokens', { afterSeconds: 3600 })).run_id }
}

function statusOf({ thread_id, run_id }: Active): Promise<string> {
  return runs()
    .get(thread_id, run_id)
    .then(({ status }) => status)
}

function post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return setup().request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

describe('cancelling a run', () => {
  it('CANCEL-1, CANCEL-3: ends it and keeps the state of the last finished step', async () => {
    const run = await running()
    expect(await runs().cancel(run.thread_id, run.run_id, true)).toBeUndefined()
    expect(await statusOf(run)).toBe('interrupted')
    const state = await setup().client.threads.getState(run.thread_id)
    expect(state).toMatchObject({ values: { log: 'before' }, next: ['misbehave'] })
    expect(await setup().client.threads.get(run.thread_id)).toMatchObject({
      status: 'interrupted',
      values: { log: 'before' },
    })
    const resumed = await runs().wait(run.thread_id, 'hostile', { input: { act: 'none' } })
    expect(resumed).toMatchObject({ log: 'acted' })
  })

  it('CANCEL-1: answers 202 at once without wait, 204 with it, and no body', async () => {
    for (const [query, status] of [
      ['', 202],
      ['?wait=0', 202],
      ['?wait=false&action=rollback', 202],
      ['?wait=1', 204],
      ['?wait=yes&action=interrupt', 204],
    ] as const) {
      const run = await running()
      const answer = await post(`/threads/${run.thread_id}/runs/${run.run_id}/cancel${query}`)
      expect([query, answer.status, await answer.text()]).toEqual([query, status, ''])
      const wanted = query.includes('rollback') ? [] : [expect.objectContaining({ status: 'interrupted' })]
      await eventually(async () => expect(await runs().list(run.thread_id)).toEqual(wanted))
    }
  })

  it('CANCEL-4: with rollback deletes all of it', async () => {
    const thread_id = await newThread()
    await runs().wait(thread_id, 'hostile', { input: { act: 'none' } })
    const { threads } = setup().client
    const before = [await threads.getState(thread_id), await threads.getHistory(thread_id)]
    const run = await running(thread_id)
    await runs().cancel(thread_id, run.run_id, true, 'rollback')
    expect(await refusal(runs().get(thread_id, run.run_id))).toMatchObject({
      status: 404,
      detail: 'Run not found',
    })
    expect(await runs().list(thread_id)).toHaveLength(1)
    expect([await threads.getState(thread_id), await threads.getHistory(thread_id)]).toEqual(before)
    expect(await threads.get(thread_id)).toMatchObject({ status: 'idle', values: { log: 'acted' } })
    const waiting = await pending()
    await runs().cancel(waiting.thread_id, waiting.run_id, true, 'rollback')
    expect(await runs().list(waiting.thread_id)).toEqual([])
  })

  it('CANCEL-2: is refused when it has ended, or does not exist', async () => {
    const thread_id = await newThread()
    await runs().wait(thread_id, 'hostile', { input: { act: 'none' } })
    const [run] = await runs().list(thread_id)
    const run_id = run?.run_id ?? ''
    for (const action of ['interrupt', 'rollback'] as const) {
      expect(await refusal(runs().cancel(thread_id, run_id, true, action))).toEqual({
        status: 409,
        detail: `Run ${run_id} is not pending or running (status: success)`,
        code: 'run_not_active',
      })
    }
    expect(await runs().get(thread_id, run_id)).toMatchObject({ status: 'success' })
    expect(await refusal(runs().cancel(thread_id, NOWHERE))).toMatchObject({ status: 404, code: 'not_found' })
    expect(await refusal(runs().cancel(NOWHERE, run_id))).toMatchObject({ status: 404 })
    for (const query of ['action=stop', 'wait=perhaps']) {
      expect((await post(`/threads/${thread_id}/runs/${run_id}/cancel?${query}`)).status).toBe(422)
    }
  })

  it('CANCEL-9: is stored when it arrives before the run, if requested', async () => {
    const thread_id = await newThread()
    const run_id = crypto.randomUUID()
    expect((await post(`/threads/${thread_id}/runs/${run_id}/cancel?early=true`)).status).toBe(202)
    const made = await post(`/threads/${thread_id}/runs`, {
      assistant_id: 'hostile',
      run_id,
      input: { act: 'ignore' },
    })
    expect(made.status).toBe(200)
    await eventually(async () => expect(await statusOf({ thread_id, run_id })).toBe('interrupted'))
  })
})

describe('cancelling many runs', () => {
  it('CANCEL-12: accepts ids, and returns each outcome if preferred', async () => {
    const thread_id = await newThread()
    await runs().wait(thread_id, 'hostile', { input: { act: 'none' } })
    const [ended] = await runs().list(thread_id)
    const [active, waiting] = [await running(thread_id), await pending(thread_id)]
    const run_ids = [active.run_id, waiting.run_id, ended?.run_id ?? '', NOWHERE]
    const answer = await post('/runs/cancel', { thread_id, run_ids }, { prefer: 'return=representation' })
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'return=representation'])
    const results = (await answer.json()) as Record<string, unknown>[]
    expect(new Map(results.map(({ run_id, outcome }) => [run_id, outcome]))).toEqual(
      new Map([
        [active.run_id, 'requested'],
        [waiting.run_id, 'ended'],
        [ended?.run_id, 'not_active'],
        [NOWHERE, 'not_found'],
      ]),
    )
    await eventually(async () => expect(await statusOf(active)).toBe('interrupted'))
    expect(await statusOf(waiting)).toBe('interrupted')
  })

  it('CANCEL-11, CANCEL-13: accepts a status, over all threads', async () => {
    const [active, waiting, other] = [await running(), await pending(), await pending()]
    expect(await runs().cancelMany({ status: 'pending' })).toBeUndefined()
    expect(await Promise.all([active, waiting, other].map(statusOf))).toEqual([
      'running',
      'interrupted',
      'interrupted',
    ])
    const second = await running()
    const answer = await post('/runs/cancel?wait=true&action=rollback', { status: 'all' })
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    for (const { thread_id } of [active, second]) expect(await runs().list(thread_id)).toEqual([])
    expect(await refusal(runs().cancelMany({ status: 'all' }))).toEqual({
      status: 404,
      detail: 'No runs found to cancel.',
      code: 'not_found',
    })
  })

  it('CANCEL-11: accepts exactly one of the two', async () => {
    const ids = { thread_id: NOWHERE, run_ids: [NOWHERE] }
    const wrong = [
      {},
      { ...ids, status: 'all' },
      { thread_id: NOWHERE },
      { run_ids: [NOWHERE] },
      { status: 'success' },
    ]
    for (const body of wrong) expect([body, (await post('/runs/cancel', body)).status]).toEqual([body, 422])
    expect((await post('/runs/cancel?action=stop', { status: 'all' })).status).toBe(422)
    expect((await post('/runs/cancel', ids)).status).toBe(404)
  })
})
