import type { Tenant } from '../../../runs/model.ts'
import type { ThreadStorage } from '../../../runs/run-store.ts'
import type { Database, SqlSession, SqlValue } from '../driver/database.ts'
import { textBytes } from '../pieces/large-text.ts'
import { copyPieces, sweepPieces } from '../pieces/sweep-pieces.ts'

const TABLES = {
  checkpoints: ['checkpoint_ns', 'checkpoint_id', 'parent_id', 'checkpoint', 'refs', 'metadata', 'era'],
  checkpoint_blobs: ['checkpoint_ns', 'checkpoint_id', 'channel', 'version', 'type', 'value'],
  checkpoint_writes: [
    'checkpoint_ns',
    'checkpoint_id',
    'task_id',
    'idx',
    'written_at',
    'channel',
    'type',
    'value',
  ],
}
const OF_THREAD = 'thread_id = ? AND deployment_id = ? AND workspace_id = ?'

function keyValues({ deployment_id, workspace_id }: Tenant, thread_id: string): SqlValue[] {
  return [thread_id, deployment_id, workspace_id]
}

/** The bytes that the checkpoints of a thread take. */
export async function checkpointBytes(
  session: SqlSession,
  tenant: Tenant,
  thread_id: string,
): Promise<ThreadStorage> {
  const key = keyValues(tenant, thread_id)
  const bytesOf = async (size: string, table: string): Promise<number> => {
    const sql = `SELECT coalesce(sum(${size}), 0) AS bytes FROM ${table} WHERE ${OF_THREAD}`
    const [row] = await session.query<{ bytes: number }>(sql, key)
    return row?.bytes ?? 0
  }
  const [checkpoints, writes, channels] = await Promise.all([
    bytesOf('octet_length(checkpoint) + octet_length(refs) + octet_length(metadata)', 'checkpoints'),
    bytesOf(textBytes('value'), 'checkpoint_writes'),
    session.query<{ channel: string; bytes: number }>(
      `SELECT channel, sum(${textBytes('value')}) AS bytes FROM checkpoint_blobs WHERE ${OF_THREAD} GROUP BY channel`,
      key,
    ),
  ])
  const named = channels.map(({ channel, bytes }) => [channel, bytes] as const)
  return { checkpoints, channels: Object.fromEntries(named), writes }
}

export async function deleteCheckpoints(
  session: SqlSession,
  dialect: Database['dialect'],
  tenant: Tenant,
  thread_id: string,
): Promise<void> {
  for (const table of Object.keys(TABLES)) {
    await session.query(`DELETE FROM ${table} WHERE ${OF_THREAD}`, keyValues(tenant, thread_id))
  }
  await sweepPieces(session, dialect, { ...tenant, thread_id })
}

/**
 * Copies all checkpoints of a thread to another thread, which must have none. The copies belong to no run. The caller
 * must call `keepPieces` before, and afterwards sweep the pieces of the new thread, which gets those of events too.
 */
export async function copyCheckpoints(
  session: SqlSession,
  tenant: Tenant,
  thread_id: string,
  new_id: string,
): Promise<void> {
  await copyCountingWrites(session, tenant, thread_id, new_id)
  for (const [table, columns] of Object.entries(TABLES)) {
    if (table === 'checkpoint_writes') continue
    const list = columns.join(', ')
    await session.query(
      `INSERT INTO ${table} (thread_id, deployment_id, workspace_id, run_id, ${list})
        SELECT CAST(? AS TEXT), deployment_id, workspace_id, '', ${list} FROM ${table} WHERE ${OF_THREAD}`,
      [new_id, ...keyValues(tenant, thread_id)],
    )
  }
  // The pieces are last: a run may store checkpoints meanwhile, and none of those that were copied lacks a piece then.
  await copyPieces(session, { ...tenant, thread_id }, new_id)
}

/**
 * Copies the valid write of each task and index. The copies have no run ids, so only one write for each can be stored.
 */
async function copyCountingWrites(
  session: SqlSession,
  tenant: Tenant,
  thread_id: string,
  new_id: string,
): Promise<void> {
  const list = TABLES.checkpoint_writes.join(', ')
  await session.query(
    `INSERT INTO checkpoint_writes (thread_id, deployment_id, workspace_id, run_id, ${list})
      SELECT CAST(? AS TEXT), deployment_id, workspace_id, '', ${list} FROM checkpoint_writes w WHERE ${OF_THREAD}
      AND NOT EXISTS (SELECT 1 FROM checkpoint_writes o
        WHERE o.thread_id = w.thread_id AND o.checkpoint_ns = w.checkpoint_ns AND o.checkpoint_id = w.checkpoint_id
        AND o.task_id = w.task_id AND o.idx = w.idx AND o.deployment_id = w.deployment_id
        AND o.workspace_id = w.workspace_id
        AND ((w.idx < 0 AND o.written_at > w.written_at) OR (w.idx >= 0 AND o.written_at < w.written_at)))`,
    [new_id, ...keyValues(tenant, thread_id)],
  )
}

interface CheckpointMetadata {
  parents?: Record<string, string>
  counters_since_delta_snapshot?: object
}

interface Head {
  checkpoint_ns: string
  checkpoint_id: string
  refs: string
  metadata: string
  era: number
}

/**
 * The checkpoints that a thread needs to continue: the latest checkpoint of the graph, the latest one of each subgraph
 * with a state of its own, and the latest ones of subgraphs of tasks (`node:<task id>`) that were started from the
 * graph's latest checkpoint.
 */
function latestOf(heads: readonly Head[]): Head[] {
  const latest = new Map<string, Head>()
  for (const head of heads) {
    const known = latest.get(head.checkpoint_ns)
    if (known === undefined || isOlder(known, head)) latest.set(head.checkpoint_ns, head)
  }
  const root = latest.get('')?.checkpoint_id
  return [...latest.values()].filter((head) => {
    const { parents } = JSON.parse(head.metadata) as CheckpointMetadata
    return !head.checkpoint_ns.includes(':') || root === undefined || parents?.[''] === root
  })
}

function isOlder(a: Head, b: Head): boolean {
  return a.era < b.era || (a.era === b.era && a.checkpoint_id < b.checkpoint_id)
}

/**
 * True if earlier checkpoints are needed too: the value of a channel is then computed from the writes since an earlier
 * checkpoint.
 */
function needsAncestors(head: Head): boolean {
  return (JSON.parse(head.metadata) as CheckpointMetadata).counters_since_delta_snapshot !== undefined
}

/** Deletes all checkpoints of a thread except the latest, with the values and writes that are no longer needed. */
export async function pruneCheckpoints(
  session: SqlSession,
  tenant: Tenant,
  thread_id: string,
): Promise<void> {
  const key = keyValues(tenant, thread_id)
  const heads = await session.query<Head>(
    `SELECT checkpoint_ns, checkpoint_id, refs, metadata, era FROM checkpoints WHERE ${OF_THREAD}`,
    key,
  )
  const latest = latestOf(heads)
  const whole = new Set(latest.filter(needsAncestors).map(({ checkpoint_ns }) => checkpoint_ns))
  const kept = [...latest, ...heads.filter(({ checkpoint_ns }) => whole.has(checkpoint_ns))]
  const keptIds = new Set(
    kept.map(({ checkpoint_ns, checkpoint_id }) => JSON.stringify([checkpoint_ns, checkpoint_id])),
  )
  const keptBlobs = new Set(
    kept.flatMap(({ checkpoint_ns, refs }) =>
      Object.entries(JSON.parse(refs) as Record<string, string>).map(([channel, id]) =>
        JSON.stringify([checkpoint_ns, id, channel]),
      ),
    ),
  )
  for (const { checkpoint_ns, checkpoint_id } of heads) {
    if (keptIds.has(JSON.stringify([checkpoint_ns, checkpoint_id]))) continue
    for (const table of ['checkpoints', 'checkpoint_writes']) {
      await session.query(
        `DELETE FROM ${table} WHERE ${OF_THREAD} AND checkpoint_ns = ? AND checkpoint_id = ?`,
        [...key, checkpoint_ns, checkpoint_id],
      )
    }
  }
  const blobs = await session.query<{ checkpoint_ns: string; checkpoint_id: string; channel: string }>(
    `SELECT checkpoint_ns, checkpoint_id, channel FROM checkpoint_blobs WHERE ${OF_THREAD}`,
    key,
  )
  for (const { checkpoint_ns, checkpoint_id, channel } of blobs) {
    if (keptBlobs.has(JSON.stringify([checkpoint_ns, checkpoint_id, channel]))) continue
    await session.query(
      `DELETE FROM checkpoint_blobs WHERE ${OF_THREAD} AND checkpoint_ns = ? AND checkpoint_id = ? AND channel = ?`,
      [...key, checkpoint_ns, checkpoint_id, channel],
    )
  }
}
