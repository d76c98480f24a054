import { describe, expect, it } from 'vitest'
import { withNewestSteps } from './known-history.ts'
import type { ThreadStep } from './step.ts'

const PAGE = 100

/** Checkpoints by number, the newest first. */
function steps(newest: number, oldest: number): ThreadStep[] {
  return Array.from(
    { length: newest - oldest + 1 },
    (_, at) => ({ checkpoint: { checkpoint_id: String(newest - at) } }) as ThreadStep,
  )
}

const ids = (list: readonly ThreadStep[]): number[] =>
  list.map(({ checkpoint }) => Number(checkpoint.checkpoint_id))

describe('the known history of a thread', () => {
  it('keeps earlier checkpoints when the newest are read again', () => {
    const known = { steps: steps(300, 1), isMore: false }
    const next = withNewestSteps(known, steps(310, 211))
    expect(ids(next.steps)).toEqual(ids(steps(310, 1)))
    expect(next.isMore).toBe(false)
  })

  it('begins anew when checkpoints have vanished, or when there is a gap', () => {
    const known = { steps: steps(300, 1), isMore: false }
    const rolledBack = [...steps(290, 200), ...steps(198, 190)]
    expect(withNewestSteps(known, rolledBack)).toEqual({ steps: rolledBack, isMore: true })
    const later = steps(600, 501)
    expect(withNewestSteps(known, later)).toEqual({ steps: later, isMore: true })
  })

  it('is the same object while nothing has changed, and so is each checkpoint', () => {
    const short = { steps: steps(3, 1), isMore: false }
    expect(withNewestSteps(short, steps(3, 1))).toBe(short)
    const long = { steps: steps(300, 1), isMore: false }
    expect(withNewestSteps(long, steps(300, 201))).toBe(long)
    const next = withNewestSteps(long, steps(301, 202))
    expect(next.steps.slice(1)).toEqual(long.steps)
    expect(next.steps.slice(1).every((step, place) => step === long.steps[place])).toBe(true)
  })

  it('is the whole of a short thread', () => {
    expect(withNewestSteps(undefined, steps(3, 1))).toEqual({ steps: steps(3, 1), isMore: false })
    expect(withNewestSteps({ steps: steps(3, 1), isMore: false }, [])).toEqual({ steps: [], isMore: false })
    expect(withNewestSteps(undefined, steps(PAGE, 1)).isMore).toBe(true)
  })
})
