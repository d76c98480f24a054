import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createToldFailures } from './told-failures.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** The seconds at which a failure is told that comes each second for three hours. */
function toldAt(message: (second: number) => string): number[] {
  const told = createToldFailures()
  return Array.from({ length: 3 * 3_600 }, (_, second) => second).filter((second) => {
    const isDue = told.isDue('the project', message(second))
    vi.advanceTimersByTime(1_000)
    return isDue
  })
}

it('the same failure is told once an hour', () => {
  expect(toldAt(() => 'There is a syntax error.')).toEqual([0, 3_600, 7_200])
})

it('failures that differ each time are told less and less often', () => {
  const times = toldAt((second) => `Process ${second} has ended.`)
  expect(times.slice(0, 6)).toEqual([0, 1, 3, 7, 15, 31])
  expect(times.length).toBeLessThan(20)
})

it('each subject is told by itself, and all again after a change of the code', () => {
  const told = createToldFailures()
  const first = () => [told.isDue('a', 'broken'), told.isDue('b', 'broken'), told.isDue('a', 'broken')]
  expect(first()).toEqual([true, true, false])
  told.reset()
  expect(first()).toEqual([true, true, false])
})

it('after a quiet hour failures count as new', () => {
  const told = createToldFailures()
  for (let n = 0; n < 5; n++) {
    told.isDue('a', `${n}`)
    vi.advanceTimersByTime(60_000)
  }
  vi.advanceTimersByTime(3_600_000)
  expect(told.isDue('a', 'x')).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect(told.isDue('a', 'y')).toBe(true)
})
