import { expect, it } from 'vitest'
import { createByteBudget } from './byte-budget.ts'

/** Work that runs until the test ends it. */
function work() {
  const ended = Promise.withResolvers<void>()
  const state = { isRunning: false }
  return {
    state,
    end: ended.resolve,
    fail: ended.reject,
    run: async () => {
      state.isRunning = true
      await ended.promise
      state.isRunning = false
    },
  }
}

it('runs work that fits at the same time, the rest in order', async () => {
  const budget = createByteBudget(100)
  const [first, second, large, small] = [work(), work(), work(), work()]
  const held = [
    budget.hold(60, first.run),
    budget.hold(40, second.run),
    budget.hold(500, large.run),
    budget.hold(1, small.run),
  ]
  const running = (): boolean[] => [first, second, large, small].map(({ state }) => state.isRunning)
  await Promise.resolve()
  expect(running()).toEqual([true, true, false, false])
  first.end()
  await held[0]
  expect(running()).toEqual([false, true, false, false])
  second.fail(new Error('no'))
  await expect(held[1]).rejects.toThrow('no')
  await Promise.resolve()
  expect(running()).toEqual([false, true, true, false])
  large.end()
  await held[2]
  await Promise.resolve()
  expect(small.state.isRunning).toBe(true)
  small.end()
  await held[3]
})
