import { expect, it } from 'vitest'
import { createUnseenEnds, type UnseenEnds, type UnseenEndMessage } from './unseen-ends.ts'

it('the end of a run is unseen for a minute after a connection broke, until it is sent (V-29)', () => {
  let now = 0
  const ends = createUnseenEnds(undefined, () => now)
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

it('other servers know of it, and forget it when one of them has sent the end (V-29)', () => {
  const told: UnseenEndMessage[] = []
  const servers: UnseenEnds[] = [0, 1, 2].map((own) =>
    createUnseenEnds((message) => {
      told.push(message)
      for (const [at, other] of servers.entries()) if (at !== own) other.receive(message)
    }),
  )
  const runs = () => servers.map((one) => [...one.of('x'.repeat(10_000))])
  servers[0]?.broke('x'.repeat(10_000), ['a', 'b'])
  expect(runs()).toEqual(Array.from({ length: 3 }, () => ['a', 'b']))
  servers[1]?.sent('x'.repeat(10_000), 'a')
  expect(runs()).toEqual(Array.from({ length: 3 }, () => ['b']))
  // Run `c` did not end while this client was disconnected, so the server publishes nothing.
  servers[2]?.sent('x'.repeat(10_000), 'c')
  expect(told.map(({ kind }) => kind)).toEqual(['unseen_ends', 'seen_end'])
  expect(JSON.stringify(told).length).toBeLessThan(500)
})
