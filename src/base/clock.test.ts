import { expect, it } from 'vitest'
import { BELIEVED_AFTER_MS, createExpiryTime } from './clock.ts'
import { NOW } from '../../test/support/faults/test-clock.ts'

const DAY = 24 * 3_600_000

function machine() {
  const state = { wall: NOW, steady: 5.996 }
  const clock = { now: () => Math.floor(state.wall), steady: () => state.steady }
  const pass = (ms: number): void => {
    state.wall += ms
    state.steady += ms
  }
  return { state, pass, time: createExpiryTime(clock) }
}

it('is the time of the clock, also through small corrections', () => {
  const { state, pass, time } = machine()
  pass(10 * DAY)
  expect(time()).toBe(state.wall)
  for (const correction of [30_000, 30_000, 30_000, -50_000]) {
    state.wall += correction
    expect(time()).toBe(state.wall)
  }
})

it('follows a clock that is set forwards only after an hour', () => {
  const { state, pass, time } = machine()
  const before = state.wall
  state.wall += 2 * DAY
  expect(time()).toBe(before)
  pass(BELIEVED_AFTER_MS - 1)
  expect(time()).toBe(before + BELIEVED_AFTER_MS - 1)
  pass(1)
  expect(time()).toBe(state.wall)
})

it('ignores a jump of the clock that is undone within the hour', () => {
  const { state, pass, time } = machine()
  state.wall += 2 * DAY
  time()
  pass(BELIEVED_AFTER_MS / 2)
  state.wall -= 2 * DAY
  expect(time()).toBe(state.wall)
  state.wall += DAY
  pass(BELIEVED_AFTER_MS / 2)
  expect(time()).toBe(state.wall - DAY)
})

it('follows a clock that is set back at once', () => {
  const { state, time } = machine()
  state.wall -= 3 * DAY
  expect(time()).toBe(state.wall)
})

it('D-67: is whole, although durations have fractions', () => {
  const { pass, time } = machine()
  const start = time()
  for (const ms of [0.1, 0.35, 0.45]) {
    pass(ms)
    expect(Number.isInteger(time())).toBe(true)
  }
  expect(time() - start).toBeLessThanOrEqual(1)
})
