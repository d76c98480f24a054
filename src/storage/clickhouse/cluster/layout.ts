import { quoteSql } from '../embedded/statement.ts'
import { onCluster } from '../on-cluster.ts'
import { onShards, shardTable, statementOnShards } from './shards.ts'

/** What a ClickHouse consists of: one server, replicas, shards of replicas, or a service of ClickHouse Cloud. */
export type Layout =
  | { readonly kind: 'single' | 'cloud' }
  | { readonly kind: 'replicas' | 'shards'; readonly cluster: string }

export const SINGLE: Layout = { kind: 'single' }

/** A database, and what the ClickHouse consists of that has it. */
export interface Laid {
  readonly layout: Layout
  readonly database: string
}

/**
 * Settings of every statement on replicas: an insert is confirmed when most replicas have it, and a read on any replica
 * waits until that replica has all confirmed inserts. So a read after a confirmed insert returns its rows, as on a
 * single server. The order of steps in ingest relies on this (ADR 0003, 0015).
 */
const ON_REPLICAS = {
  insert_quorum: 'auto',
  // ClickHouse lets reads wait for the quorum only with this setting. It then refuses a second insert into a table until
  // the first has its quorum: see insert-turns.ts.
  insert_quorum_parallel: 0,
  // A schema change is complete on every replica before the next statement of the migration runs.
  alter_sync: '2',
} as const

export const LAYOUT_SETTINGS = {
  single: {},
  // Every insert into its tables has a quorum, and a read waits for them with `select_sequential_consistency` alone.
  cloud: { alter_sync: '2' },
  replicas: ON_REPLICAS,
  shards: {
    ...ON_REPLICAS,
    // An insert is confirmed when each shard has confirmed its rows.
    distributed_foreground_insert: 1,
    // The other side of a join is read once over all shards.
    distributed_product_mode: 'global',
    // Each shard would keep the rows that it selects, whatever the table is divided by.
    parallel_distributed_insert_select: '0',
    // A read without one of the shards would miss rows.
    skip_unavailable_shards: 0,
  },
} as const satisfies Record<Layout['kind'], Readonly<Record<string, string | number>>>

/** Whether all statements reach the same server. Elsewhere a mutation is executed by a server that may be behind. */
export function isOneServer({ kind }: Pick<Layout, 'kind'>): boolean {
  return kind === 'single'
}

/** Whether ClickHouse refuses simultaneous inserts into a table. */
export function takesTurns({ kind }: Pick<Layout, 'kind'>): boolean {
  return kind === 'replicas' || kind === 'shards'
}

/** The statements that do what a schema statement does on a single server. Throws as `onCluster` and `onShards`. */
export function schemaStatements(statement: string, { layout, database }: Laid): string[] {
  switch (layout.kind) {
    case 'replicas':
      return [onCluster(statement, layout.cluster)]
    case 'shards':
      return onShards(statement, { cluster: layout.cluster, database })
    default:
      return [statement]
  }
}

/** Any statement as this layout needs it. Throws as `statementOnShards`. */
export function statementOn(layout: Layout, statement: string): string {
  return layout.kind === 'shards' ? statementOnShards(statement, layout) : statement
}

/**
 * The FROM clause, with its condition, of a read of `system.parts` or another table of the system about a table: over
 * all shards, and in each of them one replica.
 */
export function systemRows(system: 'parts' | 'mutations' | 'tables', table: string, laid: Laid): string {
  const { layout } = laid
  const from =
    layout.kind === 'shards' ? `cluster(${quoteSql(layout.cluster)}, system.${system})` : `system.${system}`
  return `${from} WHERE ${isAbout(system === 'tables' ? 'name' : 'table', table, laid)}`
}

/** Condition on rows of `system.mutations`: those about a table. */
export function isOfTable(table: string, laid: Laid): string {
  return isAbout('table', table, laid)
}

function isAbout(column: 'name' | 'table', table: string, { layout, database }: Laid): string {
  // Not currentDatabase(), which is another one where a shard executes the read.
  const name = layout.kind === 'shards' ? shardTable(table) : table
  return `database = ${quoteSql(database)} AND ${column} = ${quoteSql(name)}`
}
