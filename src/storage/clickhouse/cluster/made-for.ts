import { AppError } from '../../../base/errors.ts'
import type { ClickHouse } from '../connect.ts'
import { shardTable } from './shards.ts'

type Asked = Pick<ClickHouse, 'serverRows' | 'layout' | 'database'>

/** The table that tells for which layout the tables were made: the first one, by its engine and its comment. */
const FIRST = 'schema_migrations'
const NOTE = /^(\d+) shards$/

/**
 * Tables stay as they were made: new ones beside those of another kind would be empty, and with another number of shards
 * rows would not be found where they lie. @throws AppError config_invalid for tables that were made otherwise
 */
export async function assertSameLayout(clickhouse: Asked): Promise<void> {
  const { layout, database } = clickhouse
  const tables = await firstTables(clickhouse)
  const engine = tables.get(FIRST)?.engine
  if (engine === undefined) return
  const isSharded = engine === 'Distributed'
  if (
    isSharded !== (layout.kind === 'shards') ||
    (layout.kind === 'replicas' && !/^(Replicated|Shared)/.test(engine))
  )
    throw refused(
      `CLICKHOUSE_KIND is "${layout.kind}", and the tables of the database "${database}" were made for another kind (${engine}). Use that kind, or restore a backup into an empty database.`,
    )
  if (layout.kind !== 'shards') return
  const made = noted(tables)
  const present = await shardsOf(clickhouse, layout.cluster)
  if (made !== undefined && made !== present)
    throw refused(
      `The cluster "${layout.cluster}" of CLICKHOUSE_CLUSTER has ${present} shards, and the tables of the database "${database}" were made for ${made}: rows would not be found where they lie. Restore a backup into an empty database.`,
    )
}

/** Notes for how many shards the tables were made, if nothing does yet. */
export async function noteShards(clickhouse: ClickHouse): Promise<void> {
  const { layout } = clickhouse
  if (layout.kind !== 'shards' || noted(await firstTables(clickhouse)) !== undefined) return
  const present = await shardsOf(clickhouse, layout.cluster)
  await clickhouse.command(`ALTER TABLE ${FIRST} MODIFY COMMENT '${present} shards'`)
}

/** The number of shards of the cluster; 0 if the server knows no such cluster. */
export async function shardsOf({ serverRows }: Pick<Asked, 'serverRows'>, cluster: string): Promise<number> {
  const [found] = await serverRows<{ shards: string }>(
    'SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}',
    { cluster },
  )
  return Number(found?.shards ?? 0)
}

interface MadeTable {
  name: string
  engine: string
  comment: string
}

async function firstTables({ serverRows, database }: Asked): Promise<Map<string, MadeTable>> {
  const found = await serverRows<MadeTable>(
    'SELECT name, engine, comment FROM system.tables WHERE database = {database:String} AND name IN {names:Array(String)}',
    { database, names: [FIRST, shardTable(FIRST)] },
  )
  return new Map(found.map((table) => [table.name, table]))
}

function noted(tables: ReadonlyMap<string, MadeTable>): number | undefined {
  const [, shards] = NOTE.exec(tables.get(shardTable(FIRST))?.comment ?? '') ?? []
  return shards === undefined ? undefined : Number(shards)
}

function refused(message: string): AppError {
  return new AppError('config_invalid', { message })
}
