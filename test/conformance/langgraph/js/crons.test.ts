import { describe, expect, it } from 'vitest'
import { eventually, nextMillisecond } from '../../../support/eventually.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'

/** Once a year: does not become due during this test. */
const YEARLY = '0 0 1 1 *'
const EVERY_SECOND = '* * * * * *'
const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'

const setup = useDeployment()

function crons() {
  return setup().client.crons
}

describe('crons of the SDK', () => {
  it('are created with defaults, or with the given fields', async () => {
    const plain = await crons().create('tokens', { schedule: YEARLY })
    const { assistant_id } = await setup().client.assistants.get('tokens')
    expect(plain).toMatchObject({
      assistant_id,
      thread_id: null,
      schedule: YEARLY,
      timezone: null,
      end_time: null,
      enabled: true,
      on_run_completed: 'delete',
      metadata: {},
      payload: { assistant_id },
    })
    const next = new Date(plain.next_run_date)
    expect([next.toISOString(), next.getTime() > Date.now()]).toEqual([plain.next_run_date, true])
    const given = await crons().create('tokens', {
      schedule: '30 8 * * 1-5',
      timezone: 'Europe/Berlin',
      endTime: '2100-01-01T00:00:00Z',
      input: { tokens: 1 },
      config: { configurable: { a: 1 } },
      context: { b: 2 },
      metadata: { mark: 'given' },
      webhook: 'https://example.com/hook',
      interruptBefore: ['model'],
      interruptAfter: '*',
      multitaskStrategy: 'enqueue',
      durability: 'exit',
      streamMode: ['values', 'updates'],
      streamSubgraphs: true,
      streamResumable: true,
      onRunCompleted: 'keep',
      enabled: false,
    })
    expect(given).toMatchObject({
      timezone: 'Europe/Berlin',
      end_time: '2100-01-01T00:00:00.000Z',
      enabled: false,
      next_run_date: null,
      on_run_completed: 'keep',
      metadata: { mark: 'given' },
      payload: {
        input: { tokens: 1 },
        config: { configurable: { a: 1 } },
        context: { b: 2 },
        webhook: 'https://example.com/hook',
        interrupt_before: ['model'],
        interrupt_after: '*',
        multitask_strategy: 'enqueue',
        durability: 'exit',
        stream_mode: ['values', 'updates'],
        stream_subgraphs: true,
        stream_resumable: true,
      },
    })
  })

  it('RUN-32: are refused when they can never run', async () => {
    const { client } = setup()
    expect(await refusal(crons().create('nope', { schedule: YEARLY }))).toMatchObject({ status: 404 })
    expect(await refusal(crons().createForThread(NOWHERE, 'tokens', { schedule: YEARLY }))).toMatchObject({
      status: 404,
    })
    const wrong = [
      { schedule: 'whenever' },
      { schedule: '61 * * * *' },
      { schedule: YEARLY, timezone: 'Mars/Base' },
      { schedule: YEARLY, endTime: 'tomorrow' },
      { schedule: YEARLY, webhook: 'ftp://example.com' },
    ]
    for (const payload of wrong) {
      expect(await refusal(crons().create('tokens', payload))).toMatchObject({
        status: 422,
        code: 'invalid_request',
      })
    }
    expect(await refusal(crons().create('tokens'))).toMatchObject({ status: 422 })
    expect(await refusal(crons().delete(NOWHERE))).toMatchObject({ status: 404, code: 'not_found' })
    expect(await refusal(crons().update(NOWHERE, { schedule: YEARLY }))).toMatchObject({ status: 404 })
    expect(await refusal(client.crons.delete('x'))).toMatchObject({ status: 422 })
  })

  it('are changed and deleted', async () => {
    const made = await crons().create('tokens', {
      schedule: YEARLY,
      input: { tokens: 1 },
      metadata: { a: 1 },
      endTime: '2100-01-01T00:00:00Z',
    })
    const changed = await crons().update(made.cron_id, {
      schedule: '@daily',
      metadata: { b: 2 },
      config: { tags: ['t'] },
      enabled: false,
    })
    expect(changed).toMatchObject({
      cron_id: made.cron_id,
      schedule: '@daily',
      enabled: false,
      next_run_date: null,
      metadata: { a: 1, b: 2 },
      end_time: '2100-01-01T00:00:00.000Z',
      payload: { input: { tokens: 1 }, config: { tags: ['t'] } },
    })
    const enabled = await crons().update(made.cron_id, { enabled: true, endTime: null })
    expect(enabled).toMatchObject({ enabled: true, end_time: null, next_run_date: expect.any(String) })
    expect(await refusal(crons().update(made.cron_id, { schedule: 'never' }))).toMatchObject({ status: 422 })
    await crons().delete(made.cron_id)
    expect(await refusal(crons().delete(made.cron_id))).toMatchObject({ status: 404 })
  })

  it('are found by assistant, thread, state and metadata, in pages', async () => {
    const { client } = setup()
    const { thread_id } = await client.threads.create()
    const metadata = { mark: 'find' }
    for (const enabled of [true, false, true]) {
      await crons().create('kinds', { schedule: YEARLY, metadata, enabled })
      await nextMillisecond()
    }
    const threaded = await crons().createForThread(thread_id, 'kinds', { schedule: YEARLY })
    expect(threaded).toMatchObject({ thread_id })
    expect(await crons().search({ threadId: thread_id })).toMatchObject([{ cron_id: threaded.cron_id }])
    expect(await crons().search({ assistantId: 'kinds' })).toHaveLength(4)
    expect(await crons().search({ assistantId: 'nope' })).toEqual([])
    expect(await crons().search({ metadata, enabled: false })).toHaveLength(1)
    expect(await crons().search({ metadata, limit: 2, offset: 2 })).toHaveLength(1)
    expect(
      await crons().search({ metadata, select: ['enabled'], sortBy: 'created_at', sortOrder: 'asc' }),
    ).toEqual([{ enabled: true }, { enabled: false }, { enabled: true }])
    expect(await crons().count({ metadata })).toBe(3)
    expect(await crons().count({ assistantId: 'kinds', threadId: thread_id })).toBe(1)
    expect(await crons().count({ assistantId: 'nope' })).toBe(0)
    await client.threads.delete(thread_id)
    expect(await crons().count({ threadId: thread_id })).toBe(0)
  })

  it('create runs when they are due', async () => {
    const { client } = setup()
    const { thread_id } = await client.threads.create()
    const cron = await crons().createForThread(thread_id, 'tokens', {
      schedule: EVERY_SECOND,
      input: { tokens: 1 },
      metadata: { mark: 'due' },
    })
    const own = await crons().create('tokens', {
      schedule: EVERY_SECOND,
      input: { tokens: 1 },
      onRunCompleted: 'keep',
    })
    await eventually(async () => {
      // On a slow machine all of the newest runs may still be waiting.
      const runs = await client.runs.list(thread_id, { status: 'success' })
      expect(runs).toContainEqual(
        expect.objectContaining({
          status: 'success',
          metadata: expect.objectContaining({ cron_id: cron.cron_id, mark: 'due' }),
        }),
      )
      const threads = await client.threads.search({ metadata: { graph_id: 'tokens' }, status: 'idle' })
      const others = threads.filter((thread) => thread.thread_id !== thread_id)
      expect(others).toContainEqual(
        expect.objectContaining({ values: expect.objectContaining({ done: true }) }),
      )
    })
    for (const { cron_id } of [cron, own]) await crons().delete(cron_id)
  })
})
