import { expect, it } from 'vitest'
import type { Run } from '../../model.ts'
import type { Call } from '../../runs.ts'
import { type AnswerDeps, answersFirst } from './respond.ts'

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string]

function runOf(run_id: string, ...ids: string[]): Run {
  const resume = Object.fromEntries(ids.map((id) => [id, 1]))
  const command = ids.length === 0 ? null : { resume }
  return { run_id, thread_id: 't', status: 'pending', kwargs: { command } } as unknown as Run
}

/** Returns which of the runs answer, when all were accepted in this order before any was checked. */
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
