const CLUSTER_NAME = /^[A-Za-z_][\w.-]*$/
const NAME = String.raw`[A-Za-z_]\w*`
const HEAD = new RegExp(
  String.raw`^((?:CREATE TABLE|CREATE MATERIALIZED VIEW|CREATE DATABASE)(?: IF NOT EXISTS)?|ALTER TABLE) (${NAME}|\{name:Identifier\})`,
  'm',
)
const ENGINE = /\bENGINE = ((?:\w+)?MergeTree)(?:\(([^)]*)\))?/
/** Path and name of a table's replica. Each server replaces the macros by its own values. */
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
