import { chunksOf } from '../../../base/chunks.ts'
import type { Tenant } from '../../../runs/model.ts'
import { newestAlone, type NewestFirst, newestFirst } from '../checkpoint-eras.ts'
import type { SqlSession, SqlValue } from '../driver/database.ts'
import { wholeText } from '../pieces/large-text.ts'

/**
 * The form of a stored value. `json`: text in LangChain's JSON format. `bytes`: base64. `python:` and the type of
 * LangGraph's Python serializer: its bytes as base64, written by a Python graph.
 */
export type ValueType = 'json' | 'bytes' | `python:${string}`

/** A checkpoint without its values, as stored. */
export interface CheckpointRow {
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  parent_id: string | null
  checkpoint: string
  refs: string
  metadata: string
}

/** The value that a checkpoint gave to a channel. */
export interface BlobRow {
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  channel: string
  version: string
  type: ValueType
  value: string
}

/**
 * One write of a task. If several runs have written at the same index, the rule in the migration of this table decides
 * which write is valid.
 */
export interface WriteRow {
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  task_id: string
  idx: number
  written_at: number
  channel: string
  type: ValueType
  value: string
}

/** Identifies a value: the checkpoint that wrote it, and its channel. */
export interface BlobKey {
  checkpoint_id: string
  channel: string
}

/** A namespace of checkpoints of a thread: '' for the graph itself, others for subgraphs. */
export interface CheckpointNamespace {
  thread_id: string
  checkpoint_ns: string
}

export type FoundBlob = Pick<BlobRow, 'checkpoint_id' | 'channel' | 'type' | 'value'>

export type FoundWrite = Omit<WriteRow, 'thread_id' | 'checkpoint_ns'>

/** A selection of checkpoints; undefined fields do not restrict. */
export interface CheckpointScan {
  thread_id: string | undefined
  checkpoint_ns: string | undefined
  checkpoint_id: string | undefined
  /** Only checkpoints that are older than this one. */
  before: string | undefined
  limit: number | undefined
}

/** The key of a checkpoint within its tenant. */
export const KEY: readonly ['thread_id', 'checkpoint_ns', 'checkpoint_id'] = [
  'thread_id',
  'checkpoint_ns',
  'checkpoint_id',
]
export const CHECKPOINT: readonly (keyof CheckpointRow)[] = [
  ...KEY,
  'parent_id',
  'checkpoint',
  'refs',
  'metadata',
]
const FOUND_WRITE = `checkpoint_id, task_id, idx, written_at, channel, type, ${wholeText('value')} AS value`

/**
 * Numbers of rows or keys in a statement. Lists are padded to the next size, so that there are only a few statements,
 * which stay prepared.
 */
const SIZES = [1, 2, 4, 8, 16, 64, 256]

/** The smallest of SIZES that has room for `count` keys. */
export function sizeFor(count: number): number {
  return SIZES.find((size) => size >= count) ?? 256
}

/** A tuple of `count` placeholders. */
export function marks(count: number): string {
  return `(${'?, '.repeat(count - 1)}?)`
}

/** Parameters for `thread_id = ? AND checkpoint_ns = ? AND deployment_id = ? AND workspace_id = ?`. */
export function placeValues(tenant: Tenant, place: CheckpointNamespace): SqlValue[] {
  return [place.thread_id, place.checkpoint_ns, tenant.deployment_id, tenant.workspace_id]
}

/** Reads checkpoints, the newest first. */
export async function readCheckpoints(
  session: SqlSession,
  tenant: Tenant,
  scan: CheckpointScan,
): Promise<CheckpointRow[]> {
  const { thread_id, checkpoint_ns, limit } = scan
  const conditions = ['deployment_id = ?', 'workspace_id = ?']
  const params: SqlValue[] = [tenant.deployment_id, tenant.workspace_id]
  const restrict = (condition: string, ...values: (SqlValue | undefined)[]): void => {
    if (values.includes(undefined)) return
    conditions.push(condition)
    params.push(...(values as SqlValue[]))
  }
  restrict('thread_id = ?', thread_id)
  restrict('checkpoint_ns = ?', checkpoint_ns)
  restrict('checkpoint_id = ?', scan.checkpoint_id)
  const { conditions: more, order } = await orderOf(session, tenant, scan)
  for (const { sql, params: values } of more) restrict(sql, ...values)
  const sql = `SELECT ${CHECKPOINT.join(', ')} FROM checkpoints WHERE ${conditions.join(' AND ')} ${order}`
  if (limit === undefined) return await session.query<CheckpointRow>(sql, params)
  return await session.query<CheckpointRow>(`${sql} LIMIT ?`, [...params, limit])
}

async function orderOf(session: SqlSession, tenant: Tenant, scan: CheckpointScan): Promise<NewestFirst> {
  const { thread_id, checkpoint_ns, checkpoint_id, before, limit } = scan
  const place =
    thread_id === undefined || checkpoint_ns === undefined ? undefined : { thread_id, checkpoint_ns }
  if (checkpoint_id !== undefined && before === undefined) return { conditions: [], order: '' }
  if (place !== undefined && before === undefined && limit === 1) return newestAlone(tenant, place)
  return newestFirst(session, tenant, place, before)
}

/** The values with these keys in a namespace; missing values are left out. */
export async function readBlobs(
  session: SqlSession,
  tenant: Tenant,
  place: CheckpointNamespace,
  keys: readonly BlobKey[],
): Promise<FoundBlob[]> {
  const found: FoundBlob[][] = []
  for (const some of chunksOf(keys, 256)) {
    const size = sizeFor(some.length)
    const params: SqlValue[] = []
    for (let i = 0; i < size; i++) {
      const key = some[i]
      // The padding consists of empty ids, which no checkpoint has.
      params.push(key?.checkpoint_id ?? '', key?.channel ?? '')
    }
    // With CROSS JOIN, SQLite looks up the keys one by one, instead of scanning the thread for each.
    const sql = `SELECT b.checkpoint_id, b.channel, b.type, ${wholeText('b.value', 'b.')} AS value
      FROM (VALUES ${Array(size).fill('(?, ?)').join(', ')}) AS k CROSS JOIN checkpoint_blobs b
      WHERE b.thread_id = ? AND b.checkpoint_ns = ? AND b.checkpoint_id = k.column1 AND b.channel = k.column2
      AND b.deployment_id = ? AND b.workspace_id = ?`
    params.push(...placeValues(tenant, place))
    found.push(await session.query<FoundBlob>(sql, params))
  }
  return found.flat()
}

/** The channels of `keys` (channel and version) for which a checkpoint of the namespace has written a value. */
export async function readKnownChannels(
  session: SqlSession,
  tenant: Tenant,
  place: CheckpointNamespace,
  keys: readonly { channel: string; version: string }[],
): Promise<Set<string>> {
  const rows = await session.query<{ channel: string; version: string }>(
    `SELECT DISTINCT channel, version FROM checkpoint_blobs
      WHERE thread_id = ? AND checkpoint_ns = ? AND deployment_id = ? AND workspace_id = ?`,
    placeValues(tenant, place),
  )
  const known = new Set(rows.map(({ channel, version }) => JSON.stringify([channel, version])))
  return new Set(
    keys
      .filter(({ channel, version }) => known.has(JSON.stringify([channel, version])))
      .map(({ channel }) => channel),
  )
}

/** The valid writes of some checkpoints of a namespace, by checkpoint, ordered by task and index. */
export async function readWrites(
  session: SqlSession,
  tenant: Tenant,
  place: CheckpointNamespace,
  checkpoint_ids: readonly string[],
): Promise<Map<string, FoundWrite[]>> {
  const byCheckpoint = new Map<string, FoundWrite[]>()
  for (const some of chunksOf(checkpoint_ids, 256)) {
    const size = sizeFor(some.length)
    const padded = Array.from({ length: size }, (_, i) => some[i] ?? '')
    const rows = await session.query<FoundWrite>(
      `SELECT ${FOUND_WRITE} FROM checkpoint_writes
        WHERE thread_id = ? AND checkpoint_ns = ? AND deployment_id = ? AND workspace_id = ?
        AND checkpoint_id IN ${marks(size)}`,
      [...placeValues(tenant, place), ...padded],
    )
    for (const row of rows) {
      const writes = byCheckpoint.get(row.checkpoint_id)
      if (writes === undefined) byCheckpoint.set(row.checkpoint_id, [row])
      else writes.push(row)
    }
  }
  for (const [id, writes] of byCheckpoint) byCheckpoint.set(id, countingWrites(writes))
  return byCheckpoint
}

function compareWrites(a: FoundWrite, b: FoundWrite): number {
  if (a.task_id !== b.task_id) return a.task_id < b.task_id ? -1 : 1
  if (a.idx !== b.idx) return a.idx - b.idx
  return a.idx < 0 ? b.written_at - a.written_at : a.written_at - b.written_at
}

function countingWrites(writes: FoundWrite[]): FoundWrite[] {
  writes.sort(compareWrites)
  return writes.filter((write, i) => {
    const before = writes[i - 1]
    return before === undefined || before.idx !== write.idx || before.task_id !== write.task_id
  })
}
