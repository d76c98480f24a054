import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createEndOrder } from './end-order.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns the milliseconds until the lifecycle stream may send the end of run `r`. */
async function turnAfter(order: ReturnType<typeof createEndOrder>): Promise<number> {
  const begun = performance.now()
  let at: number | undefined
  void order.turn('me', 'r', new AbortController().signal).then(() => (at = performance.now() - begun))
  for (let ms = 0; ms <= 400 && at === undefined; ms += 10)
    await vi.advanceTimersByTimeAsync(ms === 0 ? 0 : 10)
  return at ?? Number.POSITIVE_INFINITY
}

it('the end is told at once where a client has no other stream (V-31)', async () => {
  const order = createEndOrder()
  order.enter('other')
  expect(await turnAfter(order)).toBe(0)
  order.enter('me').leave()
  expect(await turnAfter(order)).toBe(0)
})

it('it is told shortly after the other streams have told it, or without them after a while (V-31, V-33)', async () => {
  const order = createEndOrder()
  const stream = order.enter('me')
  setTimeout(() => stream.sentEnd('r'), 100)
  expect(await turnAfter(order)).toBe(150)
  expect(await turnAfter(order)).toBe(50)
  order.enter('me')
  expect(await turnAfter(order)).toBe(300)
})

it('a stream whose client does not read is not waited for (V-33)', async () => {
  const order = createEndOrder()
  order.enter('me').isSending()
  await vi.advanceTimersByTimeAsync(1000)
  expect(await turnAfter(order)).toBe(50)
})
