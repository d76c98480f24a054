import { expect, it } from 'vitest'
import { stateOf } from '../../../../test/support/runs/hosts/fake-graph-host.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { openRunWorld, type RunWorld } from '../../../../test/support/runs/world.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { GraphEnd } from '../../execute/graph-host.ts'
import type { Run, Thread } from '../../model.ts'
import type { Call, RunRequest } from '../../runs.ts'
import { carryOut, type CommandDeps } from './commands.ts'
import { type AnswerDeps, planAnswers } from './respond.ts'
import { requestedIds } from './requested-ids.ts'

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string]

function runOf(run_id: string, ...ids: string[]): Run {
  const resume = Object.fromEntries(ids.map((id) => [id, 1]))
  const command = ids.length === 0 ? null : { resume }
  return { run_id, thread_id: 't', status: 'pending', kwargs: { command } } as unknown as Run
}

/** The end of a graph that waits for answers to these interrupts. */
function askingFor(...ids: string[]): GraphEnd {
  const interrupts = { task: ids.map((id) => ({ id, value: '?' })) }
  return { kind: 'done', state: { ...stateOf({}, ['ask']), interrupts }, values: '{}' }
}

interface Asked extends RunWorld {
  /**
   * Carries out a command; resolves with the error, or undefined. `meanwhile` is called before the command creates its
   * run.
   */
  command(method: string, params: JsonObject, meanwhile?: () => Promise<void>): Promise<unknown>
  /** Answers these interrupts in one command. */
  respond(ids: readonly string[], meanwhile?: () => Promise<void>): Promise<unknown>
  /** The runs after the first one, the oldest first. */
  later(): Promise<Run[]>
  /** Ends a run, so that its thread waits for answers to these interrupts. */
  end(run: Run | undefined, ...ids: string[]): Promise<void>
}

/** A thread whose first run has ended at the interrupts A, B and C. */
async function asked(): Promise<Asked> {
  const world = await openRunWorld()
  const thread_id = await world.thread()
  const { call, runs, threads, streams, fake } = world
  const gone = new AbortController().signal
  const end: Asked['end'] = async (run, ...ids) => {
    const run_id = run?.run_id ?? ''
    const { result } = await runs.join(call, thread_id, run_id, { gone, cancel_on_disconnect: false })
    const job = await fake.job(run_id)
    job.end(askingFor(...ids))
    await result
  }
  await end(await runs.create(call, thread_id, { assistant_id: 'agent' }), A, B, C)
  const command: Asked['command'] = async (method, params, meanwhile) => {
    let wait = meanwhile
    const create: typeof runs.create = async (...request) => {
      const before = wait
      wait = undefined
      await before?.()
      return runs.create(...request)
    }
    const deps: CommandDeps = {
      runs: { ...runs, create },
      threads,
      streams,
      toRunRequest: (body) => body as unknown as RunRequest,
      assertMay: () => undefined,
      onFault: () => undefined,
    }
    return (await carryOut(deps, call, thread_id, { id: 1, method, params }))['error']
  }
  return {
    ...world,
    command,
    respond: (ids, meanwhile) =>
      command(
        'input.respond',
        { responses: ids.map((interrupt_id) => ({ interrupt_id, response: 1 })) },
        meanwhile,
      ),
    later: async () => (await runs.recent(call, thread_id)).toReversed().slice(1),
    end,
  }
}

function answersOf(runs: readonly Run[]): string[][] {
  return runs.map(({ kwargs }) => Object.keys(kwargs.command?.['resume'] ?? {}))
}

it('V-12: of overlapping answers at the same time each interrupt is answered once, and none is left out for a refused one', async () => {
  const { respond, later } = await asked()
  const refused = await Promise.all([[A], [A, B], [B], [B, C], [C]].map((ids) => respond(ids)))
  expect(new Set(refused)).toEqual(new Set([undefined, 'no_such_interrupt']))
  expect(
    answersOf(await later())
      .flat()
      .toSorted(),
  ).toEqual([A, B, C])
})

it('V-12: an answer is refused when another one is given, and its run begins and ends, while it is checked', async () => {
  const { respond, later, end } = await asked()
  const error = await respond([A, B], async () => {
    expect(await respond([A])).toBeUndefined()
    await end((await later()).at(-1), B, C)
  })
  expect(error).toBe('no_such_interrupt')
  expect(await respond([B, C])).toBeUndefined()
  expect(answersOf(await later())).toEqual([[A], [B, C]])
})

it('V-6: of two inputs at the same time for a thread that waits for an answer, one is the answer', async () => {
  const { command, later } = await asked()
  const start = (input: string, meanwhile?: () => Promise<void>) =>
    command('run.start', { assistant_id: 'agent', input }, meanwhile)
  expect(await start('second', async () => expect(await start('first')).toBeUndefined())).toBeUndefined()
  const works = (await later()).map(({ kwargs: { command: given, input } }) => given ?? input)
  expect(works).toEqual([{ resume: 'first' }, 'second'])
})

it('V-12: an input that comes when a running run has asked is the answer, unless it is to end that run', async () => {
  const worksAfter = async (asks: boolean, more: JsonObject = {}): Promise<unknown[]> => {
    const { call, command, later, fake, streams } = await asked()
    const start = (input: string, options: JsonObject = {}) =>
      command('run.start', { assistant_id: 'agent', input, ...options })
    await start('first')
    const [running] = await later()
    const { thread_id = '', run_id = '' } = running ?? {}
    const job = await fake.job(run_id)
    job.items(['metadata', { run_id, attempt: 1 }])
    if (asks) {
      job.items(['updates', { __interrupt__: [{ id: A, value: '?' }] }])
      const asking = { run_id, status: 'running' } as Run
      await eventually(async () =>
        expect(await requestedIds({ streams }, call, thread_id, asking)).toEqual(new Set([A])),
      )
    }
    await start('second', more)
    return (await later()).slice(1).map(({ kwargs: { command: given, input } }) => given ?? input)
  }
  expect(await worksAfter(false)).toEqual(['second'])
  expect(await worksAfter(true)).toEqual([{ resume: 'second' }])
  expect(await worksAfter(true, { multitask_strategy: 'enqueue' })).toEqual([{ resume: 'second' }])
  expect(await worksAfter(true, { multitask_strategy: 'interrupt' })).toEqual(['second'])
})

it('V-11: an interrupt can be answered again after the run that answered it has failed, in a run with an id of its own', async () => {
  const thread = {
    thread_id: 't',
    status: 'error',
    interrupts: { task: [{ id: A, value: '?' }] },
    metadata: {},
  }
  const failed = { ...runOf('failed', A), status: 'error', assistant_id: 'agent' }
  const planned = (runs: Run[], id = A) => {
    const deps = {
      runs: { recent: async () => runs },
      threads: { get: async () => thread as unknown as Thread },
    } as unknown as AnswerDeps
    return planAnswers(deps, {} as Call, 't', { [id]: 'again' })
  }
  const first = await planned([{ ...runOf('asking'), status: 'success' }])
  const again = await planned([failed as Run, { ...runOf('asking'), status: 'success' }])
  expect(again).toMatchObject({ assistant_id: 'agent', newest_run_id: 'failed' })
  expect(again).not.toMatchObject({ run_id: 'run_id' in first && first.run_id })
  expect(await planned([failed as Run], B)).toEqual({ unknown: B })
})
