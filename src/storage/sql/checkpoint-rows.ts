import type { Tenant } from '../../runs/model.ts'
import type { SqlSession, SqlValue } from './database.ts'

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
  type: 'json' | 'bytes'
  value: string
}

/** One write of a task; see the migration for what counts when several runs have made it. */
export interface WriteRow {
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  task_id: string
  idx: number
  written_at: number
  channel: string
  type: 'json' | 'bytes'
  value: string
}

/** Which value is meant: that of `channel` as written by a checkpoint. */
export interface BlobKey {
  checkpoint_id: string
  channel: string
}

/** One line of checkpoints of a thread: '' for the graph itself, others for subgraphs. */
export interface Place {
  thread_id: string
  checkpoint_ns: string
}

/** A value as it was found. */
export type FoundBlob = Pick<BlobRow, 'checkpoint_id' | 'channel' | 'type' | 'value'>

/** A write as it was found. */
export type FoundWrite = Omit<WriteRow, 'thread_id' | 'checkpoint_ns'>

/** Which checkpoints to read; undefined fields do not restrict. */
export interface CheckpointScan {
  thread_id: string | undefined
  checkpoint_ns: string | undefined
  checkpoint_id: string | undefined
  /** Only those with lower ids. */
  before: string | undefined
  limit: number | undefined
}

/** A row, and which run has written it, '' for none. */
export interface Written<Row> {
  tenant: Tenant
  run_id: string
  row: Row
}

const KEY = ['thread_id', 'checkpoint_ns', 'checkpoint_id'] as const
const OWNER = ['workspace_id', 'deployment_id', 'run_id'] as const
const CHECKPOINT = [...KEY, 'parent_id', 'checkpoint', 'refs', 'metadata'] as const
const BLOB = [...KEY, 'channel', 'version', 'type', 'value'] as const
const FOUND_WRITE = 'checkpoint_id, task_id, idx, written_at, channel, type, value'
const WRITE = [...KEY, 'task_id', 'idx', 'written_at', 'channel', 'type', 'value'] as const

/** So many rows or keys to a statement, filled up where fewer are left: statements stay few and are kept prepared. */
const SIZES = [1, 2, 4, 8, 16, 64, 256]

function sizeFor(count: number): number {
  return SIZES.find((size) => size >= count) ?? 256
}

/** `list` in portions of at most `size`. */
function* portions<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}

function marks(count: number): string {
  return `(${'?, '.repeat(count - 1)}?)`
}

/** Inserts rows, the largest portions first, so that the numbers of rows to a statement are few. */
async function insertRows<Name extends string>(
  session: SqlSession,
  table: string,
  columns: readonly Name[],
  onConflict: string,
  rows: readonly Written<Record<Name, SqlValue>>[],
): Promise<void> {
  const into = `INSERT INTO ${table} (${[...OWNER, ...columns].join(', ')}) VALUES `
  const tuple = marks(OWNER.length + columns.length)
  for (let at = 0; at < rows.length; ) {
    const left = rows.length - at
    const count = SIZES.findLast((size) => size <= left && size <= 16) ?? 1
    const params: SqlValue[] = []
    for (const { tenant, run_id, row } of rows.slice(at, at + count)) {
      params.push(tenant.workspace_id, tenant.deployment_id, run_id)
      for (const column of columns) params.push(row[column])
    }
    await session.query(`${into}${Array(count).fill(tuple).join(', ')} ${onConflict}`, params)
    at += count
  }
}

function replacing(key: readonly string[], columns: readonly string[]): string {
  const sets = columns
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`)
  return `ON CONFLICT (${[...key, 'deployment_id', 'workspace_id'].join(', ')}) DO UPDATE SET ${sets.join(', ')}`
}

/** A checkpoint that is put again replaces itself. No two of `rows` may have the same key. */
export async function insertCheckpoints(
  session: SqlSession,
  rows: readonly Written<CheckpointRow>[],
): Promise<void> {
  await insertRows(
    session,
    'checkpoints',
    CHECKPOINT,
    replacing(KEY, [...CHECKPOINT, 'run_id']),
    toValues(rows),
  )
}

/** A value that is put again replaces itself. No two of `rows` may have the same key. */
export async function insertBlobs(session: SqlSession, rows: readonly Written<BlobRow>[]): Promise<void> {
  const onConflict = replacing([...KEY, 'channel'], [...BLOB, 'run_id'])
  await insertRows(session, 'checkpoint_blobs', BLOB, onConflict, toValues(rows))
}

/** Special writes replace the run's earlier ones, others do not. No two of `rows` may have the same key. */
export async function insertWrites(session: SqlSession, rows: readonly Written<WriteRow>[]): Promise<void> {
  const key = [...KEY, 'task_id', 'idx', 'run_id']
  const onConflict = `${replacing(key, WRITE)} WHERE checkpoint_writes.idx < 0`
  await insertRows(session, 'checkpoint_writes', WRITE, onConflict, toValues(rows))
}

function toValues<Row extends object>(
  rows: readonly Written<Row>[],
): Written<Record<keyof Row & string, SqlValue>>[] {
  return rows as unknown as Written<Record<keyof Row & string, SqlValue>>[]
}

function placeOf(tenant: Tenant, place: Place): SqlValue[] {
  return [place.thread_id, place.checkpoint_ns, tenant.deployment_id, tenant.workspace_id]
}

/** Newest first. */
export async function readCheckpoints(
  session: SqlSession,
  tenant: Tenant,
  scan: CheckpointScan,
): Promise<CheckpointRow[]> {
  const { thread_id, checkpoint_ns, checkpoint_id, before, limit } = scan
  const conditions = ['deployment_id = ?', 'workspace_id = ?']
  const params: SqlValue[] = [tenant.deployment_id, tenant.workspace_id]
  const restrict = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return
    conditions.push(condition)
    params.push(value)
  }
  restrict('thread_id = ?', thread_id)
  restrict('checkpoint_ns = ?', checkpoint_ns)
  restrict('checkpoint_id = ?', checkpoint_id)
  restrict('checkpoint_id < ?', before)
  const where = `SELECT ${CHECKPOINT.join(', ')} FROM checkpoints WHERE ${conditions.join(' AND ')}`
  const order = checkpoint_id === undefined ? ' ORDER BY checkpoint_id DESC' : ''
  if (limit === undefined) return await session.query<CheckpointRow>(where + order, params)
  return await session.query<CheckpointRow>(`${where}${order} LIMIT ?`, [...params, limit])
}

/** The values of a namespace that `keys` name; those that are not there are left out. */
export async function readBlobs(
  session: SqlSession,
  tenant: Tenant,
  place: Place,
  keys: readonly BlobKey[],
): Promise<FoundBlob[]> {
  const found: FoundBlob[][] = []
  for (const some of portions(keys, 256)) {
    const size = sizeFor(some.length)
    const params: SqlValue[] = []
    for (let i = 0; i < size; i++) {
      const key = some[i]
      // What fills up names no checkpoint.
      params.push(key?.checkpoint_id ?? '', key?.channel ?? '')
    }
    // CROSS JOIN: SQLite then looks the keys up one by one, instead of going through the thread for each.
    const sql = `SELECT b.checkpoint_id, b.channel, b.type, b.value
      FROM (VALUES ${Array(size).fill('(?, ?)').join(', ')}) AS k CROSS JOIN checkpoint_blobs b
      WHERE b.thread_id = ? AND b.checkpoint_ns = ? AND b.checkpoint_id = k.column1 AND b.channel = k.column2
      AND b.deployment_id = ? AND b.workspace_id = ?`
    params.push(...placeOf(tenant, place))
    found.push(await session.query<FoundBlob>(sql, params))
  }
  return found.flat()
}

/** Which of `keys` (channel and version) some checkpoint of the namespace has given a value; answers the channels. */
export async function readKnownChannels(
  session: SqlSession,
  tenant: Tenant,
  place: Place,
  keys: readonly { channel: string; version: string }[],
): Promise<Set<string>> {
  const rows = await session.query<{ channel: string; version: string }>(
    `SELECT DISTINCT channel, version FROM checkpoint_blobs
      WHERE thread_id = ? AND checkpoint_ns = ? AND deployment_id = ? AND workspace_id = ?`,
    placeOf(tenant, place),
  )
  const known = new Set(rows.map(({ channel, version }) => JSON.stringify([channel, version])))
  return new Set(
    keys
      .filter(({ channel, version }) => known.has(JSON.stringify([channel, version])))
      .map(({ channel }) => channel),
  )
}

/** The writes that count, of some checkpoints of a namespace, by checkpoint; ordered by task and index. */
export async function readWrites(
  session: SqlSession,
  tenant: Tenant,
  place: Place,
  checkpoint_ids: readonly string[],
): Promise<Map<string, FoundWrite[]>> {
  const byCheckpoint = new Map<string, FoundWrite[]>()
  for (const some of portions(checkpoint_ids, 256)) {
    const size = sizeFor(some.length)
    const padded = Array.from({ length: size }, (_, i) => some[i] ?? '')
    const rows = await session.query<FoundWrite>(
      `SELECT ${FOUND_WRITE} FROM checkpoint_writes
        WHERE thread_id = ? AND checkpoint_ns = ? AND deployment_id = ? AND workspace_id = ?
        AND checkpoint_id IN ${marks(size)}`,
      [...placeOf(tenant, place), ...padded],
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
