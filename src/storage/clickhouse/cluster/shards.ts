import { quoteSql } from '../embedded/statement.ts'
import { onCluster } from '../on-cluster.ts'

/** The rows of a TraceRun lie together, whatever trace, project or time they say (docs/adr/0054). */
const BY_RUN = 'cityHash64(run_id)'
const BY_TRACE = 'cityHash64(trace_id)'
const BY_PROJECT = 'cityHash64(workspace_id, project_id)'
const BY_WORKSPACE = 'cityHash64(workspace_id)'
const ON_FIRST = '0'

/**
 * By what the rows of each table are divided among the shards. All rows with the same sort key must lie on one shard,
 * because each shard replaces rows for itself; only sums (`hour_changes`) may be anywhere. Views write to the shard of
 * the row that they read.
 */
export const SHARDED_BY: Readonly<Record<string, string>> = {
  fragments: BY_RUN,
  run_fragments: BY_RUN,
  fragment_places: BY_RUN,
  hidden_fragments: BY_RUN,
  attachment_uses: BY_RUN,
  filtered_spans: BY_RUN,
  runs: BY_RUN,
  run_places: BY_RUN,
  trace_runs: BY_RUN,
  thread_runs: BY_RUN,
  deleting_runs: BY_RUN,
  waiting_children: BY_RUN,
  feedback: BY_RUN,
  usage_claims: BY_TRACE,
  usage_traces: BY_TRACE,
  hour_changes: BY_PROJECT,
  figure_hours: BY_PROJECT,
  figure_days: BY_PROJECT,
  thread_hours: BY_PROJECT,
  run_hours: BY_PROJECT,
  usage_marks: BY_WORKSPACE,
  usage_rollups: BY_WORKSPACE,
  schema_migrations: ON_FIRST,
  repairs: ON_FIRST,
  installation: ON_FIRST,
}

export interface ShardedPlace {
  readonly cluster: string
  readonly database: string
}

/** The table of each shard that has the rows. The table itself is `Distributed`, for reads and inserts. */
export function shardTable(table: string): string {
  return `${table}_local`
}

const CREATED_TABLE = /^CREATE TABLE (IF NOT EXISTS )?(\w+)/m
const ALTERED_TABLE = /^ALTER TABLE (\w+)/m
/** Changes of columns are made in both tables; the others are about rows, indexes and settings of each shard. */
const OF_COLUMNS = /^ALTER TABLE \w+ (ADD|MODIFY|DROP|RENAME|COMMENT) COLUMN\b/m
const VIEW_OR_QUERY = /^(?:CREATE MATERIALIZED VIEW|ALTER TABLE \w+ MODIFY QUERY)\b/m
const NAMED_TABLE = /\b(FROM|TO) (\w+)/g

/**
 * The statements that do on a cluster with shards what a schema statement does on a server. Pure. Throws TypeError for a
 * table that is not in SHARDED_BY, and as `onCluster`.
 */
export function onShards(statement: string, { cluster, database }: ShardedPlace): string[] {
  const [, , created] = CREATED_TABLE.exec(statement) ?? []
  if (created !== undefined) {
    const local = statement.replace(
      CREATED_TABLE,
      (_, when = '') => `CREATE TABLE ${when}${shardTable(created)}`,
    )
    const parameters = [quoteSql(cluster), quoteSql(database), quoteSql(shardTable(created)), keyOf(created)]
    const whole = `CREATE TABLE IF NOT EXISTS ${created} AS ${shardTable(created)} ENGINE = Distributed(${parameters.join(', ')})`
    return [onCluster(local, cluster), onCluster(whole, cluster)]
  }
  if (VIEW_OR_QUERY.test(statement)) {
    const local = statement.replace(NAMED_TABLE, (all, word: string, table: string) =>
      table in SHARDED_BY ? `${word} ${shardTable(table)}` : all,
    )
    return [onCluster(local, cluster)]
  }
  const [, altered] = ALTERED_TABLE.exec(statement) ?? []
  if (altered === undefined) return [onCluster(statement, cluster)]
  keyOf(altered)
  const local = statement.replace(ALTERED_TABLE, `ALTER TABLE ${shardTable(altered)}`)
  const both = OF_COLUMNS.test(statement) ? [local, statement] : [local]
  return both.map((one) => onCluster(one, cluster))
}

function keyOf(table: string): string {
  const key = SHARDED_BY[table]
  if (key === undefined)
    throw new TypeError(`not in SHARDED_BY, which says on which shard a row lies: ${table}`)
  return key
}

const DELETED = /^DELETE FROM (\w+)((?: IN PARTITION \([^)]*\))?)(?= WHERE\b)/
const CHANGED_PARTS = /^(ALTER|OPTIMIZE) TABLE (\w+)/
const KILLED = /^KILL MUTATION(?= WHERE\b)/
const SUBQUERY = /\bSELECT\b/

const IN_SUBQUERY = /\b((?:NOT )?IN) \((?=\s*(?:SELECT|WITH)\b)/g

/**
 * A statement for a cluster with shards. They delete rows and write parts again for themselves; what is read and inserted
 * goes through the `Distributed` tables. Subqueries are executed once over all shards: ClickHouse says so of them itself
 * (`distributed_product_mode`), but fails where one reads two tables. Pure. Throws TypeError for a deletion that selects
 * its rows from a table, of which each shard has only a part.
 */
export function statementOnShards(statement: string, place: Pick<ShardedPlace, 'cluster'>): string {
  return changeOnShards(statement, place).replace(IN_SUBQUERY, 'GLOBAL $1 (')
}

function changeOnShards(statement: string, { cluster }: Pick<ShardedPlace, 'cluster'>): string {
  const everywhere = `ON CLUSTER \`${cluster}\``
  const [, deleted] = DELETED.exec(statement) ?? []
  if (deleted !== undefined) {
    if (SUBQUERY.test(statement))
      throw new TypeError(`a deletion on shards cannot select: ${statement.slice(0, 200)}`)
    keyOf(deleted)
    return statement.replace(
      DELETED,
      (_, _table, within: string) => `DELETE FROM ${shardTable(deleted)} ${everywhere}${within}`,
    )
  }
  if (statement.includes(everywhere)) return statement
  const [, verb, changed] = CHANGED_PARTS.exec(statement) ?? []
  if (changed !== undefined && changed in SHARDED_BY)
    return statement.replace(CHANGED_PARTS, `${verb} TABLE ${shardTable(changed)} ${everywhere}`)
  return statement.replace(KILLED, `KILL MUTATION ${everywhere}`)
}
