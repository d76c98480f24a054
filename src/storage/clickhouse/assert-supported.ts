import { AppError } from '../../base/errors.ts'
import type { ClickHouse } from './connect.ts'

/**
 * The first version with all settings that Weir's statements use: the last one that came is
 * text_index_like_min_pattern_length. Text indexes need no setting since 26.2.
 */
const LEAST_VERSION = [26, 4] as const

/**
 * Rejects for ClickHouse servers that lack what Weir needs, or on which a read may miss rows of a confirmed insert.
 * @throws AppError config_invalid for an old version, for ClickHouse Cloud, for a cluster with several shards, and for a cluster that the
 * server does not have in its configuration; store_unavailable when the server does not answer
 */
export async function assertSupported({
  serverRows,
  cluster,
}: Pick<ClickHouse, 'serverRows' | 'cluster'>): Promise<void> {
  const [server] = await serverRows<{ version: string }>('SELECT version() AS version')
  if (server !== undefined && isOld(server.version))
    throw refused(
      `The server of CLICKHOUSE_URL is ClickHouse ${server.version}. Weir needs ${LEAST_VERSION.join('.')} or later.`,
    )
  const [mode] = await serverRows<{ value: string }>(
    "SELECT value FROM system.settings WHERE name = 'cloud_mode'",
  )
  if (mode?.value === '1')
    throw refused(
      'CLICKHOUSE_URL leads to ClickHouse Cloud, on which Weir is not tested: its tables have other engines. Use a ClickHouse server, or a cluster of replicas with CLICKHOUSE_CLUSTER.',
    )
  if (cluster === undefined) return
  const [found] = await serverRows<{ shards: string }>(
    'SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}',
    { cluster },
  )
  const shards = Number(found?.shards ?? 0)
  if (shards === 0)
    throw refused(
      `CLICKHOUSE_CLUSTER is "${cluster}", and the server of CLICKHOUSE_URL knows no cluster of this name: system.clusters lists those it knows.`,
    )
  if (shards > 1)
    throw refused(
      `The cluster "${cluster}" of CLICKHOUSE_CLUSTER has ${shards} shards. Weir needs one shard with any number of replicas, since each server must find all traces.`,
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
