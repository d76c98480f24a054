import { describe, expect, it } from 'vitest'
import { barOf, dragged, tickText, ticksOf, zoomed } from './zoom.ts'

describe('the zoom of a trace', () => {
  it('stays inside the trace', () => {
    expect(zoomed({ from: 0, to: 1000 }, 'out', 1000)).toEqual({ from: 0, to: 1000 })
    const inner = zoomed({ from: 0, to: 1000 }, 'in', 1000)
    expect([inner.from > 0, inner.to < 1000]).toEqual([true, true])
    expect(zoomed({ from: 0, to: 100 }, 'out', 1000).from).toBe(0)
  })

  it('can be dragged in either direction; a click shows all', () => {
    expect(dragged(0.75, 0.25, 1000)).toEqual({ from: 250, to: 750 })
    expect(dragged(0.5, 0.5, 1000)).toEqual({ from: 0, to: 1000 })
  })

  it('cuts bars at its edges', () => {
    expect(barOf(0, 500, { from: 250, to: 750 })).toEqual({ left: 0, width: 0.5 })
    expect(barOf(800, 900, { from: 250, to: 750 })).toBeUndefined()
  })
})

it('the axis has round times in the range, from the beginning of the trace', () => {
  expect(ticksOf({ from: 0, to: 2_480_000 })).toEqual([0, 800_000, 1_600_000])
  expect(ticksOf({ from: 1_000_000, to: 1_000_400 })).toEqual([1_000_000, 1_000_100, 1_000_200, 1_000_300])
  expect(ticksOf({ from: 0, to: 1 }).length).toBeGreaterThan(0)
})

it('the axis of a long trace has whole minutes, hours or days', () => {
  const seconds = (to: number) => ticksOf({ from: 0, to: to * 1e6 }).map((time) => time / 1e6)
  expect(ticksOf({ from: 0, to: 1e9 }).map(tickText)).toEqual(['0', '5 m', '10 m', '15 m'])
  expect(seconds(45)).toEqual([0, 15, 30])
  expect(seconds(1000)).toEqual([0, 300, 600, 900])
  expect(seconds(9000)).toEqual([0, 3600, 7200])
  expect(seconds(800_000)).toEqual([0, 345_600, 691_200])
})
