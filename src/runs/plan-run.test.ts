import { describe, expect, it } from 'vitest'
import { planRun } from './plan-run.ts'
import type { JsonObject } from '../schema/json.ts'
import type { RunRequest } from './runs.ts'

const IDS = { run_id: 'r', thread_id: 't', graph_id: 'agent', assistant_id: 'a' }

const ASSISTANT = {
  assistant_id: 'a',
  graph_id: 'agent',
  config: { recursion_limit: 10, configurable: { model: 'small', tone: 'dry' } },
  context: { user: 'x' },
  metadata: { created_by: 'system', level: 'assistant' },
}

function planned(
  request: Omit<RunRequest, 'assistant_id'>,
  thread = { metadata: {}, config: {} },
  temporary = false,
  sharesContext = false,
) {
  const call = {
    tenant: { workspace_id: 'w', deployment_id: 'd' },
    caller: { user_id: null, api_key_id: 'k' },
    headers: { 'user-agent': 'test' },
  }
  const whole = { assistant_id: 'agent', ...request }
  const admission = planRun({
    call,
    assistant: ASSISTANT,
    run_id: 'r',
    thread_id: 't',
    temporary,
    defaultTtl: null,
    request: whole,
    sharesContext,
  })
  return { admission, ...(admission.compose?.(thread) ?? admission.run) }
}

describe('defaults', () => {
  it('are those of the platform', () => {
    const { admission, kwargs } = planned({})
    expect(admission).toMatchObject({ multitask_strategy: 'enqueue', delay_ms: 0, if_not_exists: 'reject' })
    expect(kwargs).toMatchObject({
      input: null,
      command: null,
      stream_mode: ['values'],
      subgraphs: false,
      durability: 'async',
      on_completion: 'keep',
    })
    expect(planned({}, undefined, true).kwargs).toMatchObject({ temporary: true, on_completion: 'delete' })
    expect(planned({}, undefined, true).admission.if_not_exists).toBe('create')
  })

  it('a command replaces the input', () => {
    expect(planned({ input: { n: 1 }, command: { resume: true } }).kwargs).toMatchObject({
      input: null,
      command: { resume: true },
    })
  })

  it('older spellings are accepted', () => {
    expect(planned({ checkpoint_during: false }).kwargs.durability).toBe('exit')
    expect(planned({ checkpoint_id: 'c' }).kwargs.checkpoint).toEqual({ checkpoint_id: 'c' })
    expect(planned({ stream_mode: 'updates' }).kwargs.stream_mode).toEqual(['updates'])
    expect(planned({ stream_mode: ['updates', 'updates'] }).kwargs.stream_mode).toEqual(['updates'])
  })

  it.each([-1, Number.NaN, 1e12])('after_seconds %s is refused', (after_seconds) => {
    expect(() => planned({ after_seconds })).toThrow('after_seconds')
  })
})

describe('the config of a run', () => {
  it('is the request merged over the thread and the assistant', () => {
    const thread = { metadata: { level: 'thread', t: 1 }, config: { configurable: { tone: 'kind' } } }
    const { metadata, kwargs } = planned(
      {
        metadata: { level: 'request' },
        config: { configurable: { model: 'large' } },
        context: { user: 'y' },
      },
      thread,
    )
    expect(metadata).toEqual({
      created_by: 'system',
      level: 'request',
      t: 1,
      assistant_id: 'a',
      graph_id: 'agent',
    })
    expect(kwargs.context).toEqual({ user: 'y' })
    expect(kwargs.config).toMatchObject({
      recursion_limit: 10,
      metadata,
      configurable: {
        model: 'large',
        tone: 'kind',
        'user-agent': 'test',
        run_id: 'r',
        thread_id: 't',
        graph_id: 'agent',
        assistant_id: 'a',
      },
    })
  })

  it('has no limits, tags and metadata of an earlier run of the thread', () => {
    const earlier = { recursion_limit: 2, max_concurrency: 1, tags: ['t'], metadata: { of: 'run' } }
    const config = { ...earlier, configurable: { tone: 'kind' } }
    const { recursion_limit, ...kept } = planned({}, { metadata: {}, config }).kwargs.config
    expect(recursion_limit).toBe(10)
    expect(kept).toMatchObject({ configurable: { tone: 'kind' } })
    expect(Object.keys(kept).toSorted()).toEqual(['configurable', 'metadata'])
    expect(kept['metadata']).not.toHaveProperty('of')
  })

  it('RUN-37: configurable and context are the same values to a graph that reads them so', () => {
    const seen = (
      request: Omit<RunRequest, 'assistant_id'>,
      config: JsonObject = {},
      shares = true,
    ): [unknown, unknown] => {
      const { kwargs } = planned(request, { metadata: {}, config }, false, shares)
      const { model, tone, user, ...others } = kwargs.config['configurable'] as JsonObject
      expect(others).toEqual({ 'user-agent': 'test', ...IDS })
      return [kwargs.context, { model, tone, user }]
    }
    const standing = { model: 'small', tone: 'dry', user: 'x' }
    expect(seen({})).toEqual([standing, standing])
    const thread = { configurable: { tone: 'kind' } }
    expect(seen({}, thread)[0]).toEqual({ ...standing, tone: 'kind' })
    const configurable = { user: 'y' }
    for (const request of [{ config: { configurable } }, { context: configurable }])
      expect(seen(request)).toEqual([
        { ...standing, user: 'y' },
        { ...standing, user: 'y' },
      ])
    const both = {
      config: { configurable: { user: 'y' } },
      context: { user: 'z', __pregel_read: 1, run_id: 'q' },
    }
    expect(seen(both)[1]).toEqual({ ...standing, user: 'z' })
    const apart = seen({ config: { configurable } }, {}, false)
    expect(apart).toEqual([{ user: 'x' }, { model: 'small', tone: 'dry', user: 'y' }])
  })

  it('a fork is for its run only: none of it is stored with the thread', () => {
    const config = { configurable: { checkpoint_id: 'c', checkpoint_ns: '', model: 'large' } }
    const { admission, kwargs } = planned({ config })
    expect(kwargs.checkpoint).toEqual({ checkpoint_id: 'c', checkpoint_ns: '' })
    expect(admission.thread_config).toEqual({ configurable: { model: 'large' } })
    expect(planned({}, { metadata: {}, config }).kwargs.config['configurable']).not.toHaveProperty(
      'checkpoint_id',
    )
  })

  it('RUN-34: keys of the graph runtime are dropped, also from the stored config of a thread', () => {
    const poison = { __pregel_resuming: true, __pregel_read: 'x', thread_ts: 'c' }
    const config = { configurable: { ...poison, model: 'large' } }
    const { admission, kwargs } = planned({ config }, { metadata: {}, config })
    expect(admission.thread_config).toEqual({ configurable: { model: 'large' } })
    expect(Object.keys(kwargs.config['configurable'] ?? {}).filter((key) => key in poison)).toEqual([])
    expect(kwargs.checkpoint).toBeNull()
  })

  it('a thread that a run creates gets the metadata of its request, by which clients find it', () => {
    const metadata = { owner: 'me' }
    expect(planned({ metadata, if_not_exists: 'create' }).admission.new_thread_metadata).toEqual(metadata)
  })

  it('headers and ids of a run are not stored with the thread either', () => {
    const { admission } = planned({})
    expect(admission.thread_config).toEqual({})
    expect(admission.thread_metadata).toEqual({ graph_id: 'agent', assistant_id: 'a' })
  })
})

describe('a webhook', () => {
  it('must be an absolute http URL without a user', () => {
    expect(planned({ webhook: 'https://example.com/a' }).kwargs.webhook).toBe('https://example.com/a')
    for (const webhook of [
      '/relative',
      'ftp://example.com',
      'https://u:p@example.com',
      `https://e.com/${'x'.repeat(3000)}`,
    ]) {
      expect(() => planned({ webhook }), webhook).toThrow('webhook')
    }
  })
})
