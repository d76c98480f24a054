import { AppError } from '../../base/errors.ts'
import type { ClickHouse } from './connect.ts'

/**
 * Rejects for ClickHouse servers on which a read may miss rows of a confirmed insert.
 * @throws AppError config_invalid for ClickHouse Cloud, for a cluster with several shards, and for a cluster that the
 * server does not have in its configuration; store_unavailable when the server does not answer
 */
export async function assertSupported({
  rows,
  cluster,
}: Pick<ClickHouse, 'rows' | 'cluster'>): Promise<void> {
  const [mode] = await rows<{ value: string }>("SELECT value FROM system.settings WHERE name = 'cloud_mode'")
  if (mode?.value === '1')
    throw refused(
      'CLICKHOUSE_URL leads to ClickHouse Cloud, on which Weir is not tested: its tables have other engines. Use a ClickHouse server, or a cluster of replicas with CLICKHOUSE_CLUSTER.',
    )
  if (cluster === undefined) return
  const [found] = await rows<{ shards: number }>(
    'SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}',
    { params: { cluster } },
  )
  const shards = found?.shards ?? 0
  if (shards === 0)
    throw refused(
      `CLICKHOUSE_CLUSTER is "${cluster}", and the server of CLICKHOUSE_URL knows no cluster of this name: system.clusters lists those it knows.`,
    )
  if (shards > 1)
    throw refused(
      `The cluster "${cluster}" of CLICKHOUSE_CLUSTER has ${shards} shards. Weir needs one shard with any number of replicas, since each server must find all traces.`,
    )
}

function refused(message: string): AppError {
  return new AppError('config_invalid', { message })
}
