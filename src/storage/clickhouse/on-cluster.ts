/**
 * Settings of every statement on a replicated cluster: an insert is confirmed when most replicas have it, and a read on
 * any replica waits until that replica has all confirmed inserts. So a read after a confirmed insert returns its rows,
 * as on a single server. The order of steps in ingest relies on this (ADR 0003, 0015).
 */
export const CLUSTER_SETTINGS = {
  insert_quorum: 'auto',
  // ClickHouse lets reads wait for the quorum only with this setting. It then refuses a second insert into a table until
  // the first has its quorum: see cluster/insert-turns.ts.
  insert_quorum_parallel: 0,
  // A schema change is complete on every replica before the next statement of the migration runs.
  alter_sync: '2',
} as const

const CLUSTER_NAME = /^[A-Za-z_][\w.-]*$/
const NAME = String.raw`[A-Za-z_]\w*`
const HEAD = new RegExp(
  String.raw`^((?:CREATE TABLE|CREATE MATERIALIZED VIEW|CREATE DATABASE)(?: IF NOT EXISTS)?|ALTER TABLE) (${NAME}|\{name:Identifier\})`,
  'm',
)
const ENGINE = /\bENGINE = ((?:\w+)?MergeTree)(?:\(([^)]*)\))?/
/** Path and name of a table's replica. Each server replaces the macros by its own values. There is one shard. */
const REPLICA = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`

/**
 * A schema statement for a cluster of replicas: it runs on all of them, with tables that replicate. Pure. Throws
 * RangeError for an invalid name, TypeError for a statement of another kind.
 */
export function onCluster(statement: string, cluster: string): string {
  if (!CLUSTER_NAME.test(cluster)) throw new RangeError(`not the name of a cluster: ${cluster}`)
  if (!HEAD.test(statement)) throw new TypeError(`cannot be run on a cluster: ${statement.slice(0, 80)}`)
  return statement
    .replace(HEAD, (_, verb: string, name: string) => `${verb} ${name} ON CLUSTER \`${cluster}\``)
    .replace(ENGINE, (_, engine: string, parameters: string | undefined) => {
      const all = parameters === undefined || parameters === '' ? REPLICA : `${REPLICA}, ${parameters}`
      return `ENGINE = Replicated${engine}(${all})`
    })
}
