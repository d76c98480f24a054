import { describe, expect, it } from 'vitest'
import type { ThreadRun } from '../../deployments/thread-run.ts'
import { earlierInputs } from './earlier-inputs.ts'

function runWith(run_id: string, input: unknown, assistant_id = 'a'): ThreadRun {
  return { run_id, assistant_id, created_at: run_id, kwargs: { input } } as unknown as ThreadRun
}

describe('earlier inputs', () => {
  it('are listed once each, the newest first, and only those of the assistant', () => {
    const runs = [
      runWith('5', { topic: 'x'.repeat(100) }),
      runWith('4', { topic: 'rivers' }),
      runWith('3', null),
      runWith('2', { topic: 'rivers' }),
      runWith('1', { topic: 'lakes' }, 'b'),
    ]
    const found = earlierInputs(runs, 'a')
    expect(found.map(({ run_id }) => run_id)).toEqual(['5', '4'])
    expect(found.map(({ preview }) => preview.length)).toEqual([80, 18])
  })
})
