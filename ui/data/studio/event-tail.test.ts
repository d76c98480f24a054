import { describe, expect, it } from 'vitest'
import { createEventTail } from './event-tail.ts'

describe('the newest events of a run', () => {
  it('are kept, and all of 20,000 are counted', () => {
    const tail = createEventTail(3)
    for (let n = 0; n < 20_000; n += 1) tail.add(n)
    expect(tail.snapshot()).toEqual({ count: 20_000, newest: [19_997, 19_998, 19_999] })
    tail.clear()
    expect(tail.snapshot()).toEqual({ count: 0, newest: [] })
  })
})
