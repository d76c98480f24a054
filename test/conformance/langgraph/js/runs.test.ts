import type { Run } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { newGate } from '../../../support/runs/gate.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'
import { inLong } from '../../../support/length.ts'

const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'
const JSON_TYPE = { 'content-type': 'application/json' }
const SLEEPING = { input: { sleep: 600_000 } }
const setup = useDeployment()
const runs = () => setup().client.runs

async function newThread(): Promise<string> {
  return (await setup().client.threads.create()).thread_id
}

/** A run as read, with the fields that only Weir has. */
type ReadRun = Run & { weir: Record<string, unknown>; kwargs: Record<string, unknown> }

async function read(thread_id: string, run_id: string): Promise<ReadRun> {
  return (await runs().get(thread_id, run_id)) as ReadRun
}

async function hasStatus(thread_id: string, run_id: string, status: string): Promise<void> {
  await eventually(async () => expect((await runs().get(thread_id, run_id)).status).toBe(status))
}

describe('runs of the SDK', () => {
  it('run in the background, and are returned in the shape of the platform', async () => {
    const thread_id = await newThread()
    const places: unknown[] = []
    const made = await runs().create(thread_id, 'tokens', {
      input: { tokens: 1 },
      metadata: { mark: 'one' },
      config: { tags: ['t'], recursion_limit: 30, configurable: { flavour: 'sweet' } },
      streamMode: ['values', 'messages-tuple'],
      onRunCreated: (place) => void places.push(place),
    })
    expect(places).toEqual([{ thread_id, run_id: made.run_id }])
    const { assistant_id } = await setup().client.assistants.get('tokens')
    expect(made).toMatchObject({
      thread_id,
      assistant_id,
      status: expect.stringMatching(/pending|running/),
      metadata: { created_by: 'system', graph_id: 'tokens', assistant_id, mark: 'one' },
      multitask_strategy: 'enqueue',
      kwargs: {
        input: { tokens: 1 },
        stream_mode: ['values', 'messages-tuple'],
        config: {
          tags: ['t'],
          recursion_limit: 30,
          configurable: { flavour: 'sweet', thread_id, run_id: made.run_id },
        },
      },
    })
    await hasStatus(thread_id, made.run_id, 'success')
    const ended = await read(thread_id, made.run_id)
    expect(ended.weir).toMatchObject({ trace_id: made.run_id, attempt: 1, error: null })
    expect(await setup().client.threads.get(thread_id)).toMatchObject({
      status: 'idle',
      metadata: { graph_id: 'tokens', assistant_id },
      values: { done: true },
    })
  })

  it('RUN-24: have tokens and costs when their trace has been stored', async () => {
    const thread_id = await newThread()
    const { run_id } = await runs().create(thread_id, 'tokens', { input: { tokens: 3 } })
    await eventually(async () => {
      const { weir } = await read(thread_id, run_id)
      expect(weir['totals']).toMatchObject({ total_tokens: expect.any(Number) })
    })
  })

  inLong(() => {
    it('are listed newest first, in pages, by status and field', async () => {
      const thread_id = await newThread()
      const made: string[] = []
      for (let count = 0; count < 3; count++)
        made.unshift((await runs().create(thread_id, 'tokens', { input: { tokens: 1 } })).run_id)
      await runs().join(thread_id, made[0] ?? '')
      const ids = async (options: Parameters<ReturnType<typeof runs>['list']>[1]) =>
        (await runs().list(thread_id, options)).map(({ run_id }) => run_id)
      expect(await ids({})).toEqual(made)
      expect(await ids({ limit: 2, offset: 1 })).toEqual(made.slice(1))
      expect(await ids({ status: 'success' })).toEqual(made)
      expect(await ids({ status: 'pending' })).toEqual([])
      expect(await runs().list(thread_id, { limit: 1, select: ['run_id', 'status'] })).toEqual([
        { run_id: made[0], status: 'success' },
      ])
    })
  })

  it('are listed for all threads too, newest first, in pages, by status and field', async () => {
    const made: string[] = []
    for (let count = 0; count < 3; count++) {
      const thread_id = await newThread()
      const { run_id } = await runs().create(thread_id, 'tokens', { input: { tokens: 1 } })
      await runs().join(thread_id, run_id)
      made.unshift(run_id)
    }
    const search = async (body: object) => {
      const answer = await setup().request('/runs/search', {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify(body),
      })
      return [answer.status, answer.headers.get('x-pagination-next'), await answer.json()]
    }
    const rows = made.map((run_id) => ({ run_id }))
    const page = { select: ['run_id'], status: 'success' }
    expect(await search({ ...page, limit: 2 })).toEqual([200, '2', rows.slice(0, 2)])
    expect((await search({ ...page, limit: 1, offset: 2 }))[2]).toEqual(rows.slice(2))
    expect(await search({ select: ['run_id'], status: 'timeout' })).toEqual([200, null, []])
    for (const wrong of [
      { limit: 0 },
      { limit: 1001 },
      { offset: -1 },
      { status: 'done' },
      { select: 'run_id' },
    ])
      expect([wrong, (await search(wrong))[0]]).toEqual([wrong, 422])
  })

  it('are refused for unknown or invalid values', async () => {
    const thread_id = await newThread()
    expect(await refusal(runs().create(thread_id, 'nope'))).toEqual({
      status: 404,
      detail:
        'No assistant found for "nope". Make sure the assistant ID is for a valid assistant or a valid graph ID.',
      code: 'not_found',
    })
    expect(await refusal(runs().get(thread_id, NOWHERE))).toMatchObject({
      status: 404,
      detail: 'Run not found',
    })
    expect(await refusal(runs().join(thread_id, NOWHERE))).toMatchObject({ status: 404 })
    const wrong = [
      {},
      { assistant_id: 'tokens', stream_mode: 'nope' },
      { assistant_id: 'tokens', multitask_strategy: 'nope' },
      { assistant_id: 'tokens', run_id: 'nope' },
      { assistant_id: 'tokens', after_seconds: -1 },
      { assistant_id: 'tokens', config: [] },
      { assistant_id: 'tokens', webhook: 'nope' },
      { assistant_id: 'tokens', command: { goto: [5] } },
      { assistant_id: 'tokens', command: { goto: { input: {} } } },
      { assistant_id: 'tokens', command: { update: [['steps']] } },
      { assistant_id: 'tokens', command: { update: [1] } },
      [],
    ]
    for (const body of wrong) {
      const init = { method: 'POST', body: JSON.stringify(body), headers: JSON_TYPE }
      const answer = await setup().request(`/threads/${thread_id}/runs`, init)
      expect([body, answer.status, await answer.json()]).toEqual([
        body,
        422,
        { detail: expect.any(String), code: 'invalid_request' },
      ])
    }
    expect(await runs().list(thread_id)).toEqual([])
  })

  inLong(() => {
    it('can be deleted when they have ended', async () => {
      const thread_id = await newThread()
      await runs().wait(thread_id, 'tokens', { input: { tokens: 1 } })
      const [ended] = await runs().list(thread_id)
      const { run_id } = await runs().create(thread_id, 'tokens', SLEEPING)
      expect(await refusal(runs().delete(thread_id, run_id))).toMatchObject({ status: 409, code: 'conflict' })
      await runs().cancel(thread_id, run_id, true)
      for (const id of [run_id, ended?.run_id ?? ''])
        expect(await runs().delete(thread_id, id)).toBeUndefined()
      expect(await runs().list(thread_id)).toEqual([])
      expect((await setup().client.threads.getState(thread_id)).values).toMatchObject({ done: true })
    })
  })

  it('RUN-7: wait for others of their thread, are refused, or end them', async () => {
    const thread_id = await newThread()
    const first = await runs().create(thread_id, 'tokens', SLEEPING)
    expect(await refusal(runs().create(thread_id, 'tokens', { multitaskStrategy: 'reject' }))).toEqual({
      status: 409,
      detail:
        'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
      code: 'thread_busy',
    })
    const second = await runs().create(thread_id, 'tokens', { input: { tokens: 1 } })
    expect(await runs().get(thread_id, second.run_id)).toMatchObject({ status: 'pending' })
    const third = await runs().create(thread_id, 'tokens', {
      input: { sleep: 0 },
      multitaskStrategy: 'interrupt',
    })
    await hasStatus(thread_id, third.run_id, 'success')
    for (const { run_id } of [first, second])
      expect(await runs().get(thread_id, run_id)).toMatchObject({ status: 'interrupted' })
  })

  inLong(() => {
    it('RUN-8, RUN-9: begin later, and are the same for the same id', async () => {
      const thread_id = await newThread()
      const body = JSON.stringify({
        assistant_id: 'tokens',
        run_id: crypto.randomUUID(),
        after_seconds: 3600,
      })
      const post = async () => {
        const init = { method: 'POST', body, headers: JSON_TYPE }
        return (await (await setup().request(`/threads/${thread_id}/runs`, init)).json()) as Run
      }
      const made = await post()
      expect(await post()).toMatchObject({ run_id: made.run_id, status: 'pending' })
      expect(await runs().list(thread_id)).toHaveLength(1)
      const others = await newThread()
      const answer = await setup().request(`/threads/${others}/runs`, {
        method: 'POST',
        body,
        headers: JSON_TYPE,
      })
      expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'run_id_taken' }])
      await runs().cancel(thread_id, made.run_id, true)
    })

    it('create their thread, if requested', async () => {
      const thread_id = crypto.randomUUID()
      const metadata = { mark: thread_id }
      await runs().wait(thread_id, 'tokens', { input: { tokens: 1 }, ifNotExists: 'create', metadata })
      expect(await setup().client.threads.search({ metadata })).toMatchObject([{ thread_id, status: 'idle' }])
    })
  })

  it('let graphs read config, context and headers, but no key', async () => {
    const { client, request } = setup()
    const { thread_id } = await client.threads.create()
    const answer = await request(`/threads/${thread_id}/runs/wait`, {
      method: 'POST',
      body: JSON.stringify({
        assistant_id: 'kinds',
        input: { kind: 'config' },
        context: { tone: 'dry' },
        config: { configurable: { mine: 1 } },
      }),
      headers: { ...JSON_TYPE, 'x-flavour': 'sweet' },
    })
    const values = (await answer.json()) as { answer: { configurable: object; context: object } }
    expect(values.answer).toMatchObject({
      configurable: { mine: 1, 'x-flavour': 'sweet', 'user-agent': expect.any(String), thread_id },
      context: { tone: 'dry' },
    })
    expect(values.answer.configurable).not.toHaveProperty('x-api-key')
  })
})

describe('waiting', () => {
  it('returns the last values', async () => {
    const thread_id = await newThread()
    const values = await runs().wait(thread_id, 'tokens', { input: { tokens: 2 } })
    expect(values).toMatchObject({ tokens: 2, done: true, messages: [expect.anything()] })
    const [run] = await runs().list(thread_id)
    expect(await runs().join(thread_id, run?.run_id ?? '')).toEqual(values)
  })

  it('RUN-5: ends when the graph waits for a human, whose answer resumes the next run', async () => {
    const thread_id = await newThread()
    const asked = await runs().wait(thread_id, 'kinds', { input: { kind: 'ask' } })
    expect(asked).toMatchObject({ __interrupt__: [{ value: { question: 'go on?' } }] })
    const [run] = await runs().list(thread_id)
    expect(run).toMatchObject({ status: 'success', weir: { interrupted: true } })
    const thread = await setup().client.threads.get(thread_id)
    expect(thread).toMatchObject({ status: 'interrupted' })
    expect(Object.values(thread.interrupts).flat()).toMatchObject([{ value: { question: 'go on?' } }])
    const done = await runs().wait(thread_id, 'kinds', { command: { resume: 'yes' } })
    expect(done).toMatchObject({ answer: 'yes' })
    expect(await setup().client.threads.get(thread_id)).toMatchObject({ status: 'idle', interrupts: {} })
    expect((await runs().list(thread_id))[0]).toMatchObject({ weir: { interrupted: false } })
  })

  inLong(() => {
    it('V-13: with strict_resume refuses an answer to an interrupt that does not wait, and keeps those that do', async () => {
      const thread_id = await newThread()
      await runs().wait(thread_id, 'kinds', { input: { kind: 'ask' } })
      const command = { resume: { ['a'.repeat(32)]: 'yes' } }
      const refused = await runs().wait(thread_id, 'kinds', {
        command,
        strictResume: true,
        raiseError: false,
      })
      expect(refused).toMatchObject({ __error__: { error: 'UnknownInterruptError' } })
      const done = await runs().wait(thread_id, 'kinds', { command: { resume: 'yes' }, strictResume: true })
      expect(done).toMatchObject({ answer: 'yes' })
    })
  })

  it('returns a failure with 200', async () => {
    const thread_id = await newThread()
    const input = { kind: 'fail' }
    await expect(runs().wait(thread_id, 'kinds', { input })).rejects.toThrow('QuotaError: no more quota')
    const told = await runs().wait(thread_id, 'kinds', { input, raiseError: false })
    const failure = { error: 'QuotaError', message: 'no more quota' }
    expect(told).toEqual({ __error__: failure })
    const [run] = (await runs().list(thread_id)) as ReadRun[]
    expect(run).toMatchObject({ status: 'error', weir: { error: failure } })
    expect(await setup().client.threads.get(thread_id)).toMatchObject({ status: 'error', error: failure })
  })

  inLong(() => {
    it('RUN-3, RUN-17, D-48: returns the location of the run at once, and keeps the connection alive', async () => {
      const thread_id = await newThread()
      const gate = await newGate()
      const asked = { assistant_id: 'tokens', input: { gates: { plan: gate.file }, tokens: 1 } }
      const answer = await fetch(`${setup().weir.deploymentUrl}/threads/${thread_id}/runs/wait`, {
        method: 'POST',
        body: JSON.stringify(asked),
        headers: { ...JSON_TYPE, 'x-api-key': setup().weir.key },
      })
      expect(answer.status).toBe(200)
      const place = answer.headers.get('content-location') ?? ''
      const run_id = place.slice(place.lastIndexOf('/') + 1)
      expect(place).toBe(`/threads/${thread_id}/runs/${run_id}`)
      expect(answer.headers.get('location')).toBe(`${place}/join`)
      expect(answer.headers.get('content-type')).toBe('application/json')
      await hasStatus(thread_id, run_id, 'running')
      let text = ''
      for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        // Before the run ends, the response contains only newlines, which keep the connection open.
        if (text === '') expect(piece).toMatch(/^\n+$/)
        text += piece
        await gate.open()
      }
      expect(JSON.parse(text)).toMatchObject({ done: true })
    })
  })

  it('RUN-18: cancels when the client disconnects, if requested', async () => {
    const leave = async (path: string, method: string, body?: object): Promise<void> => {
      const left = new AbortController()
      const answer = await fetch(`${setup().url}${path}`, {
        method,
        signal: left.signal,
        headers: { ...JSON_TYPE, 'x-api-key': setup().weir.key },
        ...(body && { body: JSON.stringify(body) }),
      })
      expect(answer.status).toBe(200)
      left.abort()
    }
    const asked = { assistant_id: 'tokens', ...SLEEPING }
    const inBody = await newThread()
    await leave(`/threads/${inBody}/runs/wait`, 'POST', { ...asked, on_disconnect: 'cancel' })
    const inQuery = await newThread()
    await leave(`/threads/${inQuery}/runs/wait?on_disconnect=cancel`, 'POST', asked)
    const bodyFirst = await newThread()
    const stays = { ...asked, on_disconnect: 'continue' }
    await leave(`/threads/${bodyFirst}/runs/wait?on_disconnect=cancel`, 'POST', stays)
    const joined: [thread_id: string, run_id: string][] = []
    for (const spelling of ['true', '1', 'YES', 'on', 'cancel', '0', 'nope']) {
      const thread_id = await newThread()
      const { run_id } = await runs().create(thread_id, 'tokens', SLEEPING)
      await leave(`/threads/${thread_id}/runs/${run_id}/join?cancel_on_disconnect=${spelling}`, 'GET')
      joined.push([thread_id, run_id])
    }
    const ofThread = async (id: string): Promise<string> => (await runs().list(id))[0]?.run_id ?? ''
    const cancelled = [
      [inBody, await ofThread(inBody)],
      [inQuery, await ofThread(inQuery)],
      ...joined.slice(0, 5),
    ]
    for (const [thread_id = '', run_id = ''] of cancelled) await hasStatus(thread_id, run_id, 'interrupted')
    const others = [[bodyFirst, await ofThread(bodyFirst)], ...joined.slice(5)]
    for (const [thread_id = '', run_id = ''] of others) {
      await hasStatus(thread_id, run_id, 'running')
      await runs().cancel(thread_id, run_id, true)
    }
  })

  inLong(() => {
    it('accepts runs that have ended, failed or wait', async () => {
      const thread_id = await newThread()
      const failed = await runs().create(thread_id, 'kinds', { input: { kind: 'fail' } })
      expect(await runs().join(thread_id, failed.run_id)).toEqual({
        __error__: { error: 'QuotaError', message: 'no more quota' },
      })
      const second = await runs().create(thread_id, 'kinds', { input: { kind: 'plain' } })
      expect(await runs().join(thread_id, second.run_id)).toMatchObject({ kind: 'plain' })
    })
  })
})

describe('stateless runs', () => {
  it('RUN-19: have a thread of their own, which is deleted unless it is to be kept', async () => {
    const places: { run_id: string; thread_id?: string }[] = []
    const onRunCreated = (place: { run_id: string; thread_id?: string }): void => void places.push(place)
    expect(await runs().wait(null, 'tokens', { input: { tokens: 1 }, onRunCreated })).toMatchObject({
      done: true,
    })
    const gone = await runs().create(null, 'tokens', { input: { tokens: 1 }, onRunCreated })
    expect(places).toEqual([{ run_id: expect.any(String) }, { run_id: gone.run_id }])
    await eventually(async () => {
      expect(await refusal(setup().client.threads.get(gone.thread_id))).toMatchObject({ status: 404 })
    })
    const kept = await runs().create(null, 'tokens', { input: { tokens: 1 }, onCompletion: 'continue' })
    await hasStatus(kept.thread_id, kept.run_id, 'success')
    const answer = await setup().request(`/runs/${kept.run_id}/join`)
    expect([answer.status, await answer.json()]).toMatchObject([200, { done: true }])
    expect(answer.headers.get('content-location')).toBe(`/runs/${kept.run_id}`)
  })

  inLong(() => {
    it('are created in batches, all or none', async () => {
      const one = { assistantId: 'tokens', input: { tokens: 1 }, on_completion: 'keep' }
      const made = await runs().createBatch([one, one])
      expect(new Set(made.map(({ run_id }) => run_id)).size).toBe(2)
      for (const { thread_id, run_id } of made) await hasStatus(thread_id, run_id, 'success')
      const before = await setup().client.threads.count()
      expect(await refusal(runs().createBatch([one, { assistantId: 'nope' }]))).toMatchObject({ status: 404 })
      expect(await refusal(runs().createBatch([]))).toMatchObject({ status: 422 })
      expect(await setup().client.threads.count()).toBe(before)
    })
  })
})
