import { expect, it } from 'vitest'
import { assertSupported } from './assert-supported.ts'

interface Facts {
  cluster?: string
  shards?: number
  cloud?: string
  version?: string
}

function check({ cluster, shards = 0, cloud, version = '26.4.1.1' }: Facts): Promise<void> {
  const serverRows = async <Row>(sql: string): Promise<Row[]> => {
    if (sql.includes('version()')) return [{ version }] as Row[]
    if (sql.includes('system.clusters')) return [{ shards: String(shards) }] as Row[]
    return (cloud === undefined ? [] : [{ value: cloud }]) as Row[]
  }
  return assertSupported({ serverRows, cluster })
}

it('takes a server, and a cluster with one shard', async () => {
  await check({})
  await check({ version: '27.1.1.1' })
  await check({ cluster: 'replicas', shards: 1, cloud: '0' })
})

it.each<[string, Facts, string]>([
  ['several shards', { cluster: 'sharded', shards: 2 }, 'has 2 shards'],
  ['a cluster that the server does not know', { cluster: 'wrong' }, 'no cluster of this name'],
  ['a version of 2018', { version: '18.16.1' }, 'is ClickHouse 18.16.1. Weir needs 26.4 or later'],
  ['a version that is a little too old', { version: '26.3.9.1' }, 'Weir needs 26.4'],
  ['ClickHouse Cloud', { cloud: '1' }, 'ClickHouse Cloud'],
])('refuses %s with words', async (_, facts, words) => {
  await expect(check(facts)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(words),
  })
})
