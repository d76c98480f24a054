import { expect, it } from 'vitest'
import { assertSupported } from './assert-supported.ts'
import type { Layout } from './cluster/layout.ts'

interface Facts {
  layout?: Layout
  shards?: number
  copying?: boolean
  cloud?: string
  version?: string
  /** Of the tables that exist. */
  engine?: string
  comment?: string
}

function check(facts: Facts): Promise<void> {
  const { layout = { kind: 'single' }, shards = 0, cloud, version = '26.4.1.1', engine, comment = '' } = facts
  const answer = (sql: string): unknown[] => {
    if (sql.includes('version()')) return [{ version }]
    if (sql.includes('internal_replication = 0')) return facts.copying === false ? [{}] : []
    if (sql.includes('system.clusters')) return [{ shards: String(shards) }]
    if (sql.includes('cloud_mode')) return cloud === undefined ? [] : [{ value: cloud }]
    if (engine === undefined) return []
    const shard = { name: 'schema_migrations_local', engine: 'ReplicatedReplacingMergeTree', comment }
    return [{ name: 'schema_migrations', engine, comment: '' }, ...(engine === 'Distributed' ? [shard] : [])]
  }
  const serverRows = async <Row>(sql: string): Promise<Row[]> => answer(sql) as Row[]
  return assertSupported({ serverRows, layout, database: 'weir' })
}

const REPLICAS = { kind: 'replicas', cluster: 'c' } as const
const SHARDS = { kind: 'shards', cluster: 'c' } as const
const CLOUD = { kind: 'cloud' } as const

it.each<[string, Facts]>([
  ['a server', {}],
  ['a server of a later version, with tables', { version: '27.1.1.1', engine: 'ReplacingMergeTree' }],
  ['replicas', { layout: REPLICAS, shards: 1, cloud: '0', engine: 'ReplicatedReplacingMergeTree' }],
  ['shards', { layout: SHARDS, shards: 2 }],
  ['shards with tables', { layout: SHARDS, shards: 2, engine: 'Distributed', comment: '2 shards' }],
  ['one shard', { layout: SHARDS, shards: 1, engine: 'Distributed' }],
  ['ClickHouse Cloud', { layout: CLOUD, cloud: '1', engine: 'SharedReplacingMergeTree' }],
])('takes %s', async (_, facts) => {
  await check(facts)
})

it.each<[string, Facts, string]>([
  ['shards as replicas', { layout: REPLICAS, shards: 2 }, 'has 2 shards, and CLICKHOUSE_KIND is "replicas"'],
  ['a cluster that the server does not know', { layout: SHARDS }, 'no cluster of this name'],
  ['shards that copy inserts', { layout: SHARDS, shards: 2, copying: false }, '<internal_replication>true'],
  ['a version of 2018', { version: '18.16.1' }, 'is ClickHouse 18.16.1. Weir needs 26.4 or later'],
  ['a version that is a little too old', { version: '26.3.9.1' }, 'Weir needs 26.4'],
  ['ClickHouse Cloud as another kind', { cloud: '1' }, 'Set CLICKHOUSE_KIND=cloud'],
  ['plain tables as shards', { layout: SHARDS, shards: 2, engine: 'MergeTree' }, 'another kind (MergeTree)'],
  ['plain tables as replicas', { layout: REPLICAS, shards: 1, engine: 'MergeTree' }, 'another kind'],
  ['tables of shards as a server', { engine: 'Distributed' }, 'another kind (Distributed)'],
  [
    'another number of shards',
    { layout: SHARDS, shards: 3, engine: 'Distributed', comment: '2 shards' },
    'has 3 shards, and the tables of the database "weir" were made for 2',
  ],
])('refuses %s with words', async (_, facts, words) => {
  await expect(check(facts)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(words),
  })
})
