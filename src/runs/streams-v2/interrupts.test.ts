import { expect, it } from 'vitest'
import type { Run } from '../model.ts'
import { waitingInterrupts } from './interrupts.ts'

const [A, B] = ['a', 'b'].map((letter) => letter.repeat(32)) as [string, string]
const THREAD = { interrupts: { task: [{ id: A, value: 1 }], other: [{ id: B, value: 2 }] } }

function runOf(status: Run['status'], ...ids: string[]): Run {
  const command = ids.length === 0 ? null : { resume: Object.fromEntries(ids.map((id) => [id, 1])) }
  return { status, kwargs: { command } } as unknown as Run
}

it.each([
  ['without runs', [], [A, B]],
  ['after an answer that failed', [runOf('error', A), runOf('success')], [A, B]],
  ['while one of them is answered', [runOf('running', A), runOf('success')], [B]],
  ['while an answer waits', [runOf('pending', B), runOf('running', A)], []],
  ['while a run with other input waits', [runOf('pending'), runOf('success')], [A, B]],
  ['while a run with other input is active', [runOf('running'), runOf('success')], []],
] as const)('V-11, V-32: interrupts of a thread that wait for an answer %s', (_when, runs, waiting) => {
  expect(waitingInterrupts(THREAD, runs).map(({ id }) => id)).toEqual(waiting)
})
