import { expect, it } from 'vitest'
import { connectionShares } from './connection-budget.ts'

it('the shares are all connections of DATABASE_CONNECTIONS, and each part has one', () => {
  for (let total = 10; total <= 1000; total++) {
    const { identity, runs, lists, longLists, hosts, perHost } = connectionShares(total)
    expect(identity + runs + lists + longLists + hosts * perHost + 5).toBe(total)
    expect(Math.min(identity, runs, lists, longLists, hosts, perHost)).toBeGreaterThanOrEqual(1)
  }
})

it('three servers with the default fit into a Postgres as it is installed', () => {
  expect(connectionShares(32)).toEqual({
    identity: 6,
    runs: 12,
    lists: 2,
    longLists: 1,
    hosts: 6,
    perHost: 1,
  })
})
