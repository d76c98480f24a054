import { newUuid } from '../../../base/ids.ts'
import { isOneServer } from '../cluster/layout.ts'
import type { ClickHouse } from '../connect.ts'

/** TraceRuns of one workspace, as the statements of a deletion select them. */
export interface RunSet {
  /** Condition on `workspace_id` and `run_id`, and on `run_id` alone. */
  sql: string
  ofRuns: string
  params: { readonly workspace_id: string } & Readonly<Record<string, unknown>>
}

/**
 * Number of ids from which they are staged in a table. A mutation parses its ids again for each part of its table: 7 µs
 * for an id in each statement.
 */
const STAGED_FROM = 500
/** Maximum number of TraceRuns of a set: with several servers, a mutation with its ids is one record of at most 1 MB in Keeper. */
const MOST = { staged: 50_000, named: 4_000 } as const

export function mostRuns({ layout }: Pick<ClickHouse, 'layout'>): number {
  return isOneServer(layout) ? MOST.staged : MOST.named
}

/** A set whose ids are in each statement. */
export function namedRuns(workspace_id: string, run_ids: readonly string[]): RunSet {
  return setOf('run_id IN {run_ids:Array(UUID)}', { workspace_id, run_ids })
}

/**
 * A set for several statements. Many ids are stored first. A replica that is behind could find only some of them there,
 * so with several servers they are in each statement.
 */
export async function runSet(
  clickhouse: ClickHouse,
  workspace_id: string,
  run_ids: readonly string[],
): Promise<RunSet> {
  if (run_ids.length < STAGED_FROM || !isOneServer(clickhouse.layout)) return namedRuns(workspace_id, run_ids)
  const deletion = newUuid()
  await clickhouse.insert({
    table: 'deleting_runs',
    columns: ['deletion', 'run_id'],
    format: 'JSONEachRow',
    body: Buffer.from(run_ids.map((run_id) => JSON.stringify({ deletion, run_id })).join('\n')),
  })
  return setOf('run_id IN (SELECT run_id FROM deleting_runs WHERE deletion = {deletion:UUID})', {
    workspace_id,
    deletion,
  })
}

function setOf(ofRuns: string, params: RunSet['params']): RunSet {
  return { sql: `workspace_id = {workspace_id:UUID} AND ${ofRuns}`, ofRuns, params }
}
