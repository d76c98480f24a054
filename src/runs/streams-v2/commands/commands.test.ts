import { describe, expect, it } from 'vitest'
import { AppError, type ErrorCode } from '../../../base/errors.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Run, Thread } from '../../model.ts'
import type { Call, RunRequest } from '../../runs.ts'
import { carryOut, type CommandDeps } from './commands.ts'

const call = { tenant: { deployment_id: 'd', workspace_id: 'w' } } as unknown as Call
const THREAD = 'a5a5a5a5-0000-4000-8000-000000000000'

function failing(error: Error): () => Promise<never> {
  return async () => {
    throw error
  }
}

/** The answer to `run.start` when creating the run fails with the given error, and the errors that were logged. */
async function startThatFails(error: Error): Promise<{ answer: JsonObject; faults: ErrorCode[] }> {
  const faults: ErrorCode[] = []
  const deps: CommandDeps = {
    runs: { create: failing(error), recent: async () => [] },
    threads: {
      get: failing(new AppError('not_found')),
      state: failing(error),
      history: failing(error),
    },
    streams: { lastSeq: async () => 0, followThread: failing(error) },
    toRunRequest: (body) => body as unknown as RunRequest,
    assertMay: () => undefined,
    onFault: ({ code }) => faults.push(code),
  }
  const answer = await carryOut(deps, call, THREAD, { id: 7, method: 'run.start', params: {} })
  return { answer, faults }
}

describe('a command that fails', () => {
  const AS_IN_V1 = [
    'disk_full',
    'disk_unwritable',
    'rate_limited',
    'quota_reached',
    'host_unavailable',
    'overloaded',
    'store_unavailable',
    'shutting_down',
    'unauthorized',
  ] as const

  it.each(AS_IN_V1)('keeps the status of %s, after which clients try again or log in (V-2)', async (code) => {
    await expect(startThatFails(new AppError(code))).rejects.toMatchObject({ code })
  })

  it.each([
    ['thread_busy', 'invalid_argument'],
    ['graph_not_loaded', 'invalid_argument'],
    ['not_found', 'invalid_argument'],
    ['forbidden', 'permission_denied'],
    ['permission_required', 'permission_denied'],
    ['not_implemented', 'not_supported'],
  ] as const)('answers %s as %s (V-3)', async (code, error) => {
    const { answer, faults } = await startThatFails(new AppError(code))
    expect([answer, faults]).toMatchObject([{ type: 'error', id: 7, error, code }, []])
  })

  it('V-3: has a code of the API beside each refusal', async () => {
    const refused = async (method: string) => {
      const deps = { streams: { lastSeq: async () => 0 } } as unknown as CommandDeps
      const { error, code } = await carryOut(deps, call, THREAD, { id: 1, method, params: {} })
      return [error, code]
    }
    expect(await refused('run.begin')).toEqual(['unknown_command', 'not_found'])
    expect(await refused('input.inject')).toEqual(['not_supported', 'not_implemented'])
  })

  it('reports a fault of the server, which the client is told as unknown_error (V-3)', async () => {
    const { answer, faults } = await startThatFails(new Error('secret text'))
    expect([answer, faults]).toMatchObject([{ error: 'unknown_error', code: 'internal' }, ['internal']])
    expect(JSON.stringify(answer)).not.toContain('secret')
  })
})

describe('run.start', () => {
  /** `asked`: the interrupts at the checkpoint that `params` name. */
  async function bodyOf(
    params: JsonObject,
    thread?: Partial<Thread>,
    asked?: readonly object[],
  ): Promise<JsonObject> {
    let made: JsonObject = {}
    const deps: CommandDeps = {
      runs: {
        create: async () => ({ run_id: 'r' }) as never,
        recent: async () => [],
      },
      threads: {
        get: thread === undefined ? failing(new AppError('not_found')) : async () => thread as Thread,
        state:
          asked === undefined
            ? failing(new AppError('not_found'))
            : async () => JSON.stringify({ interrupts: asked }),
        history: failing(new AppError('not_found')),
      },
      streams: { lastSeq: async () => 2047, followThread: failing(new AppError('internal')) },
      toRunRequest(body) {
        made = body
        return body as unknown as RunRequest
      },
      assertMay: () => undefined,
      onFault: () => undefined,
    }
    const answer = await carryOut(deps, call, THREAD, { id: 1, method: 'run.start', params })
    expect(answer).toMatchObject({ result: { run_id: 'r' }, meta: { applied_through_seq: 2047 } })
    return made
  }

  it('has the strategy of either name, and none of its own (V-7)', async () => {
    for (const name of ['multitask_strategy', 'multitaskStrategy'])
      expect(await bodyOf({ assistant_id: 'a', [name]: 'reject' })).toMatchObject({
        multitask_strategy: 'reject',
      })
    expect(await bodyOf({ assistant_id: 'a' })).not.toHaveProperty('multitask_strategy')
  })

  it.each(['interrupted', 'error', 'idle', 'busy'] as const)(
    'V-6: answers pending interrupts of a thread that is %s, also after a failed answer, unless a run is active',
    async (status) => {
      const thread = { status, interrupts: { task: [{ id: 'a'.repeat(32), value: '?' }] } }
      const body = await bodyOf({ assistant_id: 'a', input: 'yes' }, thread)
      expect(body).toMatchObject(status === 'busy' ? { input: 'yes' } : { command: { resume: 'yes' } })
      expect(await bodyOf({ assistant_id: 'a', input: null }, thread)).not.toHaveProperty('command')
    },
  )

  it.each([
    [[], { input: 'yes' }],
    [[{ id: 'a'.repeat(32), value: '?' }], { command: { resume: 'yes' } }],
  ])('V-6, V-8: from a checkpoint with the interrupts %j begins with %j', async (asked, work) => {
    const interrupts = { task: [{ id: 'b'.repeat(32), value: '?' }] }
    const thread = { status: 'interrupted', interrupts } as const
    const config = { configurable: { checkpoint_id: THREAD } }
    expect(await bodyOf({ assistant_id: 'a', input: 'yes', config }, thread, asked)).toMatchObject(work)
  })

  it('has further fields of a run of v1, all stream modes and no tracer (V-9, V-40)', async () => {
    const params = { assistant_id: 'a', run_id: THREAD, interrupt_before: ['n'], langsmith_tracer: {} }
    const body = await bodyOf(params)
    expect(body).toMatchObject({
      run_id: THREAD,
      interrupt_before: ['n'],
      stream_mode: ['values', 'updates', 'messages-tuple', 'tools', 'custom', 'tasks', 'checkpoints'],
      stream_subgraphs: true,
      stream_resumable: true,
    })
    expect(body).not.toHaveProperty('langsmith_tracer')
  })
})

describe('state.get and state.listCheckpoints', () => {
  const missing = new AppError('invalid_request', { message: 'Subgraph child not found' })
  const none = async () => JSON.stringify({ values: {}, checkpoint: { checkpoint_ns: 'child:1' } })

  const READING = {
    runs: { create: failing(missing), recent: async () => [] },
    streams: { lastSeq: async () => 0, followThread: failing(missing) },
    toRunRequest: (body: JsonObject) => body as unknown as RunRequest,
    assertMay: () => undefined,
    onFault: () => undefined,
  }

  /** The answers to both commands if reading the state and the history has these results. */
  async function read(params: JsonObject, state: () => Promise<string>, history: () => Promise<string>) {
    const deps: CommandDeps = {
      ...READING,
      threads: {
        get: failing(new AppError('not_found')),
        state,
        history: async () => ({ body: await history() }),
      },
    }
    const [one, list] = ['state.get', 'state.listCheckpoints'] as const
    const answers = [one, list].map((method) => carryOut(deps, call, THREAD, { id: 1, method, params }))
    return (await Promise.all(answers)).map(({ type, error }) => error ?? type)
  }

  it.each([
    ['LangGraph for JavaScript', none, async () => '[]'],
    ['LangGraph for Python', failing(missing), failing(missing)],
  ])(
    'V-3: refuse a namespace without a state as no_such_namespace, with %s',
    async (_name, state, history) => {
      const refused = ['no_such_namespace', 'no_such_namespace']
      expect(await read({ namespace: ['child:1'] }, state, history)).toEqual(refused)
    },
  )

  it('V-3: read an empty state of the graph itself, and the page after the last checkpoint of a subgraph', async () => {
    const page = async () => '[]'
    expect(await read({ namespace: [] }, none, page)).toEqual(['success', 'success'])
    const known = async () => JSON.stringify({ values: {}, checkpoint: { checkpoint_id: 'c' } })
    const after = { namespace: ['child:1'], before: 'c' }
    expect(await read(after, known, page)).toEqual(['success', 'success'])
  })

  it('RUN-38: keep the digits of integers beyond 2^53', async () => {
    const checkpoint = '"checkpoint":{"checkpoint_id":"c"}'
    const state = async () => `{"values":{"n":12345678901234567890},${checkpoint}}`
    const history = async () => ({ body: `[{${checkpoint},"metadata":{"n":12345678901234567890}}]` })
    const threads = { get: failing(missing), state, history }
    for (const method of ['state.get', 'state.listCheckpoints']) {
      const answer = await carryOut({ ...READING, threads }, call, THREAD, { id: 1, method, params: {} })
      expect(JSON.stringify(answer)).toContain('"n":12345678901234567890')
    }
  })
})

describe('input.respond', () => {
  const ID = 'a'.repeat(32)
  const params = { interrupt_id: ID, response: 1 }
  const asking = { run_id: 'asking', status: 'interrupted', kwargs: { command: null } } as unknown as Run

  function threadWith(interrupts: object): Thread {
    return { thread_id: THREAD, status: 'idle', interrupts, metadata: {} } as unknown as Thread
  }

  /** The answer to `input.respond`, and the requests of the runs that it creates. */
  async function respond(
    given: JsonObject,
    threadNow = () => threadWith({ task: [{ id: ID }] }),
    runsNow = () => [asking],
  ): Promise<{ answer: JsonObject; made: RunRequest[] }> {
    const made: RunRequest[] = []
    const deps: CommandDeps = {
      runs: {
        async create(_call, _thread, request) {
          made.push(request)
          return { run_id: 'made' } as Run
        },
        recent: async () => runsNow(),
      },
      threads: {
        get: async () => threadNow(),
        state: failing(new AppError('not_found')),
        history: failing(new AppError('not_found')),
      },
      streams: { lastSeq: async () => 0, followThread: failing(new AppError('internal')) },
      toRunRequest: (body) => body as unknown as RunRequest,
      assertMay: () => undefined,
      onFault: () => undefined,
    }
    const answer = await carryOut(deps, call, THREAD, { id: 1, method: 'input.respond', params: given })
    return { answer, made }
  }

  it.each([true, false, undefined])('V-13: makes a strict run if that is asked for: %s', async (asked) => {
    const given = { ...params, ...(asked !== undefined && { strict_resume: asked }) }
    const { answer, made } = await respond(given)
    expect(answer).toMatchObject({ type: 'success', result: {} })
    expect(made).toMatchObject([{ command: { resume: { [ID]: 1 } } }])
    expect(made[0]?.strict_resume).toBe(asked === true ? true : undefined)
  })

  it('V-12: is refused when another answer is given and its run ends while this one is checked', async () => {
    const command = { resume: { [ID]: 'other' } }
    const other = { run_id: 'other', status: 'success', kwargs: { command } } as unknown as Run
    let reads = 0
    const isOver = (): boolean => ++reads > 1
    const { answer, made } = await respond(
      params,
      () => threadWith(isOver() ? {} : { task: [{ id: ID }] }),
      () => (isOver() ? [other, asking] : [asking]),
    )
    expect(answer).toMatchObject({ type: 'error', error: 'no_such_interrupt' })
    expect(made).toEqual([])
  })
})
