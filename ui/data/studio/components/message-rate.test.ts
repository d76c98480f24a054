import { expect, it } from 'vitest'
import { createMessageRate } from './message-rate.ts'

it('allows 50 messages in a second', () => {
  let now = 0
  const isTooMany = createMessageRate(() => now)
  expect(Array.from({ length: 50 }, isTooMany)).not.toContain(true)
  expect(isTooMany()).toBe(true)
  now = 1001
  expect(isTooMany()).toBe(false)
})
