import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { AppError } from '../errors.ts'
import { createStartPauses } from './start-pauses.ts'

const ENDED = new AppError('app_unavailable', { message: 'It has ended.' })

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('a process that ends soon after each start is started once a second', () => {
  const pauses = createStartPauses(() => ENDED)
  for (let n = 0; n < 4; n++) pauses.begin().ended()
  for (let second = 0; second < 3; second++) {
    expect(() => pauses.begin()).toThrow(ENDED)
    vi.advanceTimersByTime(1_000)
    pauses.begin().ended()
  }
})

it('a process that has lived for long is started at once', () => {
  const pauses = createStartPauses(() => ENDED)
  for (let n = 0; n < 9; n++) {
    const started = pauses.begin()
    vi.advanceTimersByTime(n % 3 === 0 ? 10_000 : 10)
    started.ended()
  }
  pauses.begin()
})

it('a failed start is told to callers for a second, unless the code has changed since', () => {
  const pauses = createStartPauses(() => ENDED)
  const broken = new AppError('app_unavailable', { message: 'There is a syntax error.' })
  const first = pauses.begin()
  first.failed(broken)
  first.ended()
  expect(() => pauses.begin()).toThrow(broken)
  pauses.reset()
  pauses.begin()
  first.failed(broken)
  pauses.begin()
  vi.advanceTimersByTime(1_000)
  pauses.begin()
})
