import { expect, it } from 'vitest'
import { runKillRound } from '../support/run-kill-rounds.ts'

// The others are victims in the long tests.
it.each(['both', 'starting'] as const)(
  'kill -9 of %s at work: every run ends, none is executed twice at a time',
  async (victim) => {
    const { statuses, attempts, takenBackMs, settledMs } = await runKillRound(victim)
    console.log(
      `killed ${victim}: taken back in ${takenBackMs} ms, settled in ${settledMs} ms, attempts ${attempts.join(' ')}`,
    )
    expect(statuses.every((status) => status === 'success')).toBe(true)
    // What had to be taken up again says so.
    if (victim !== 'starting') expect(Math.max(...attempts)).toBeGreaterThan(1)
  },
  300_000,
)
