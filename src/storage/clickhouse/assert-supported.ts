import { AppError } from '../../base/errors.ts'
import { assertSameLayout, shardsOf } from './cluster/made-for.ts'
import type { ClickHouse } from './connect.ts'

/**
 * The first version with all settings that Weir's statements use: the last one that came is
 * text_index_like_min_pattern_length. Text indexes need no setting since 26.2.
 */
const LEAST_VERSION = [26, 4] as const

type Asked = Pick<ClickHouse, 'serverRows' | 'layout' | 'database'>

/**
 * Rejects for ClickHouse servers that lack what Weir needs, or on which a read may miss rows of a confirmed insert.
 * @throws AppError config_invalid for an old version, and for a server or tables of another kind than CLICKHOUSE_KIND;
 * store_unavailable when the server does not answer
 */
export async function assertSupported(clickhouse: Asked): Promise<void> {
  const { serverRows, layout } = clickhouse
  const [server] = await serverRows<{ version: string }>('SELECT version() AS version')
  if (server !== undefined && isOld(server.version))
    throw refused(
      `The server of CLICKHOUSE_URL is ClickHouse ${server.version}. Weir needs ${LEAST_VERSION.join('.')} or later.`,
    )
  const [mode] = await serverRows<{ value: string }>(
    "SELECT value FROM system.settings WHERE name = 'cloud_mode'",
  )
  if (mode?.value === '1' && layout.kind !== 'cloud')
    throw refused('CLICKHOUSE_URL leads to ClickHouse Cloud. Set CLICKHOUSE_KIND=cloud.')
  if ('cluster' in layout) await assertCluster(clickhouse, layout)
  await assertSameLayout(clickhouse)
}

async function assertCluster(
  { serverRows }: Asked,
  { kind, cluster }: { kind: 'replicas' | 'shards'; cluster: string },
): Promise<void> {
  const shards = await shardsOf({ serverRows }, cluster)
  if (shards === 0)
    throw refused(
      `CLICKHOUSE_CLUSTER is "${cluster}", and the server of CLICKHOUSE_URL knows no cluster of this name: system.clusters lists those it knows.`,
    )
  if (kind === 'replicas' && shards > 1)
    throw refused(
      `The cluster "${cluster}" of CLICKHOUSE_CLUSTER has ${shards} shards, and CLICKHOUSE_KIND is "replicas". For an empty database, set CLICKHOUSE_KIND=shards.`,
    )
  if (kind === 'replicas') return
  const copied = await serverRows(
    'SELECT 1 FROM system.clusters WHERE cluster = {cluster:String} AND internal_replication = 0 LIMIT 1',
    { cluster },
  )
  if (copied.length > 0)
    throw refused(
      `The cluster "${cluster}" of CLICKHOUSE_CLUSTER has a shard without <internal_replication>true</internal_replication>: each of its replicas would get every row twice.`,
    )
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = LEAST_VERSION
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}

function refused(message: string): AppError {
  return new AppError('config_invalid', { message })
}
