import { expect, it } from 'vitest'
import { assertSupported } from './assert-supported.ts'

interface Facts {
  cluster?: string
  shards?: number
  cloud?: string
}

function check({ cluster, shards = 0, cloud }: Facts): Promise<void> {
  const rows = async <Row>(sql: string): Promise<Row[]> => {
    if (sql.includes('system.clusters')) return [{ shards }] as Row[]
    return (cloud === undefined ? [] : [{ value: cloud }]) as Row[]
  }
  return assertSupported({ rows, cluster })
}

it('takes a server, and a cluster with one shard', async () => {
  await check({})
  await check({ cluster: 'replicas', shards: 1, cloud: '0' })
})

it.each<[string, Facts, string]>([
  ['several shards', { cluster: 'sharded', shards: 2 }, 'has 2 shards'],
  ['a cluster that the server does not know', { cluster: 'wrong' }, 'no cluster of this name'],
  ['ClickHouse Cloud', { cloud: '1' }, 'ClickHouse Cloud'],
])('refuses %s with words', async (_, facts, words) => {
  await expect(check(facts)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(words),
  })
})
