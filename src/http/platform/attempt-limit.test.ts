import { expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { createAttemptLimit } from './attempt-limit.ts'
import { NOW, testClock } from '../../../test/support/faults/test-clock.ts'

it('refuses a key that has used up its window, and only that key, until the window ends', () => {
  let now = NOW
  const limit = createAttemptLimit({ max: 2, window_ms: 60_000, clock: testClock(() => now) })
  const refusal = (key: string): unknown => {
    try {
      limit.take(key)
      return undefined
    } catch (error) {
      return error
    }
  }
  expect([refusal('a'), refusal('a'), refusal('b')]).toEqual([undefined, undefined, undefined])
  limit.giveBack('a')
  expect([refusal('a'), refusal('a')]).toEqual([undefined, expect.any(AppError)])
  now += 59_000
  const refused = refusal('a')
  expect(refused).toBeInstanceOf(AppError)
  expect(refused).toMatchObject({ code: 'rate_limited', details: { retry_after: 1 } })
  now += 1_000
  expect(refusal('a')).toBeUndefined()
})
