import { expect, it } from 'vitest'
import { createUnseenEnds } from './unseen-ends.ts'

it('the end of a run is unseen for a minute after a connection broke, until it is sent (V-29)', () => {
  let now = 0
  const ends = createUnseenEnds(() => now)
  ends.broke('me', ['a', 'b'])
  now = 30_000
  ends.broke('me', ['c'])
  expect([...ends.of('me')]).toEqual(['a', 'b', 'c'])
  expect([...ends.of('other')]).toEqual([])
  ends.sent('me', 'a')
  ends.sent('other', 'b')
  expect([...ends.of('me')]).toEqual(['b', 'c'])
  now += 60_001
  expect([...ends.of('me')]).toEqual([])
})
