import { expect, it } from 'vitest'
import { createOutbox } from './outbox.ts'

it('HOST-8: large items of one turn are sent in several frames', () => {
  const frames: number[] = []
  const outbox = createOutbox({ send: (_head, parts = []) => void frames.push(parts.length) })
  const item = { event: 'values', data: 'x'.repeat(5 << 20) }
  outbox.add(1, [item, item, item, item, item])
  outbox.flush()
  expect(frames).toEqual([2, 2, 1])
})
