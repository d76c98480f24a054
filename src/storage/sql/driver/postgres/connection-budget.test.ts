import { expect, it } from 'vitest'
import { createLogger } from '../../../../base/log.ts'
import { connectionShares, reportConnections } from './connection-budget.ts'

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

it('the connections of locks count, so that three servers with them do not fit', async () => {
  const lines: string[] = []
  const logger = createLogger({ destination: { write: (line) => void lines.push(line) } })
  const database = { query: async () => [{ most: 97 }] as never }
  await reportConnections({ database, logger }, { divided: 32, locks: 0 }, 2)
  expect(lines).toHaveLength(1)
  await reportConnections({ database, logger }, { divided: 32, locks: 2 }, 2)
  const warned = { level: 'warn', connections: 34, servers: 3, together: 102, accepted: 97 }
  expect(JSON.parse(lines.at(-1)!)).toMatchObject(warned)
})
