import { expect, it } from 'vitest'
import type { Run, Thread } from '../../model.ts'
import type { Call } from '../../runs.ts'
import { type AnswerDeps, answersFirst, planAnswers } from './respond.ts'

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string]

function runOf(run_id: string, ...ids: string[]): Run {
  const resume = Object.fromEntries(ids.map((id) => [id, 1]))
  const command = ids.length === 0 ? null : { resume }
  return { run_id, thread_id: 't', status: 'pending', kwargs: { command } } as unknown as Run
}

/** Returns the runs whose answers count, if all runs were created in this order before any was checked. */
async function answering(...runs: Run[]): Promise<string[]> {
  const asking = runOf('asking')
  const taken: string[] = []
  const deps = {
    runs: {
      recent: async () => [...runs.toReversed(), asking, runOf('earlier', A, B, C)],
      cancel: async (_call: Call, _thread: string, run_id: string) => void taken.push(run_id),
    },
  } as unknown as AnswerDeps
  const first: string[] = []
  for (const run of runs) if (await answersFirst(deps, {} as Call, run, asking)) first.push(run.run_id)
  expect([...first, ...taken].toSorted()).toEqual(runs.map(({ run_id }) => run_id).toSorted())
  return first
}

it('of overlapping answers at the same time the first ones are accepted, and none is left out for a refused one (V-12)', async () => {
  expect(await answering(runOf('1', A), runOf('2', A, B), runOf('3', B))).toEqual(['1', '3'])
  expect(await answering(runOf('1', A, B), runOf('2', A), runOf('3', B, C), runOf('4', C))).toEqual([
    '1',
    '4',
  ])
  expect(await answering(runOf('1', A), runOf('2', A), runOf('3', A))).toEqual(['1'])
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
  expect(again).toMatchObject({ assistant_id: 'agent', asking: { run_id: 'failed' } })
  expect(again).not.toMatchObject({ run_id: 'run_id' in first && first.run_id })
  expect(await planned([failed as Run], B)).toEqual({ unknown: B })
})
