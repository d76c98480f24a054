import { expect, it } from 'vitest'
import { BRIEF, type Patience, PATIENT, settled } from './settled.ts'

/** Seconds after which `settled` ends, and how, for a store that takes `slow` s and refuses until `away` s have passed. */
async function wait(patience: Patience, { slow, away }: { slow: number; away: number }) {
  let seconds = 0
  const state = {
    log: { stats: () => ({ frames: 1, frames_waiting: seconds < slow ? 1 : 0 }) as never },
    writer: {
      progress: () => {
        const up = seconds >= away
        seconds += 1
        return { up } as never
      },
    },
    clock: { now: () => 0, steady: () => seconds * 1_000 },
  }
  const end = await settled(state, patience).then(
    () => 'stored',
    ({ code }: { code: string }) => code,
  )
  return { end, seconds }
}

it.each([
  ['a store that is slow is waited for', PATIENT, { slow: 40, away: 0 }, 'stored', 40],
  ['a store that refuses for a moment is waited for', PATIENT, { slow: 20, away: 5 }, 'stored', 20],
  ['a store that is slower than clients wait', PATIENT, { slow: 90, away: 0 }, 'store_unavailable', 52],
  ['a store that is away', PATIENT, { slow: 90, away: 90 }, 'store_unavailable', 10],
  [
    'a caller that can go on does not wait for a store that is away',
    BRIEF,
    { slow: 90, away: 90 },
    'store_unavailable',
    2,
  ],
  [
    'a caller that can go on waits shortly for a slow store',
    BRIEF,
    { slow: 90, away: 0 },
    'store_unavailable',
    10,
  ],
])('%s', async (_title, patience, store, end, seconds) => {
  expect(await wait(patience, store)).toEqual({ end, seconds })
})

it('waits for what was acknowledged also when the wall clock was set back, and not for what comes later', async () => {
  let stored = 0
  let acknowledged = 3
  const clock = { now: () => -1_000, steady: () => 0 }
  const log = {
    stats: () =>
      ({ frames: acknowledged, frames_waiting: acknowledged - stored, oldest_waiting_at: 0 }) as never,
  }
  const writer = {
    progress: () => {
      stored += 1
      acknowledged += 2
      return { up: true } as never
    },
  }
  await settled({ log, writer, clock }, PATIENT)
  expect(stored).toBe(3)
})
