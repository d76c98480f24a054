import type { Tenant } from '../../../runs/model.ts'
import { type Expression, eraOfNew, newestAlone, type NewestFirst, newestFirst } from '../checkpoint-eras.ts'
import type { SqlSession, SqlValue } from '../driver/database.ts'

/**
 * How a value is stored: LangChain's JSON format as text, bytes as base64; or, written by a Python graph, the bytes of
 * LangGraph's Python serializer as base64, after the prefix with its own type.
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

/** One write of a task; the migration explains which write counts when several runs have made one. */
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

/** Identifies a value: that of `channel` as written by a checkpoint. */
export interface BlobKey {
  checkpoint_id: string
  channel: string
}

/** A namespace of checkpoints of a thread: '' for the graph itself, others for subgraphs. */
export interface CheckpointNamespace {
  thread_id: string
  checkpoint_ns: string
}

/** A value as read. */
export type FoundBlob = Pick<BlobRow, 'checkpoint_id' | 'channel' | 'type' | 'value'>

/** A write as read. */
export type FoundWrite = Omit<WriteRow, 'thread_id' | 'checkpoint_ns'>

/** Which checkpoints to read; undefined fields do not restrict. */
export interface CheckpointScan {
  thread_id: string | undefined
  checkpoint_ns: string | undefined
  checkpoint_id: string | undefined
  /** Only those that are older than this one. */
  before: string | undefined
  limit: number | undefined
}

/** A row, and the run that has written it, '' for none. */
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
const WRITE = [...KEY, 'task_id', 'idx', 'channel', 'type', 'value'] as const

/**
 * Numbers of rows or keys in a statement, padded to the next size: so there are few statements, and they stay prepared.
 */
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

/** A column that the database computes for each row. */
interface WorkedOut<Row> {
  column: string
  of(row: Row): Expression
}

/** Inserts rows, the largest portions first, so that statements of only a few sizes are needed. */
async function insertRows<Name extends string>(
  session: SqlSession,
  table: string,
  columns: readonly Name[],
  onConflict: string,
  rows: readonly Written<Record<Name, SqlValue>>[],
  workedOut?: WorkedOut<Written<Record<Name, SqlValue>>>,
): Promise<void> {
  const more = workedOut === undefined ? [] : [workedOut.column]
  const into = `INSERT INTO ${table} (${[...OWNER, ...columns, ...more].join(', ')}) VALUES `
  const [first] = rows
  const expression = first && workedOut?.of(first).sql
  const plain = marks(OWNER.length + columns.length)
  const tuple = expression === undefined ? plain : `${plain.slice(0, -1)}, ${expression})`
  for (let at = 0; at < rows.length; ) {
    const left = rows.length - at
    const count = SIZES.findLast((size) => size <= left && size <= 16) ?? 1
    const params: SqlValue[] = []
    for (const one of rows.slice(at, at + count)) {
      const { tenant, run_id, row } = one
      params.push(tenant.workspace_id, tenant.deployment_id, run_id)
      for (const column of columns) params.push(row[column])
      if (workedOut !== undefined) params.push(...workedOut.of(one).params)
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

/** A checkpoint that is put again replaces the earlier row. No two of `rows` may have the same key. */
export async function insertCheckpoints(
  session: SqlSession,
  rows: readonly Written<CheckpointRow>[],
): Promise<void> {
  const onConflict = replacing(KEY, [...CHECKPOINT, 'run_id'])
  const era: WorkedOut<Written<Record<keyof CheckpointRow, SqlValue>>> = {
    column: 'era',
    of: ({ tenant, row }) => eraOfNew(tenant, row as unknown as CheckpointRow),
  }
  for (const portion of rising(rows)) {
    for (const some of firstsApart(portion, await storedAlready(session, portion)))
      await insertRows(session, 'checkpoints', CHECKPOINT, onConflict, toValues(some), era)
  }
}

function placeText({ tenant, row }: Written<CheckpointRow>): string {
  return JSON.stringify([tenant.workspace_id, tenant.deployment_id, row.thread_id, row.checkpoint_ns])
}

/** The rows that replace an earlier row at the same place. */
async function storedAlready(
  session: SqlSession,
  rows: readonly Written<CheckpointRow>[],
): Promise<Set<Written<CheckpointRow>>> {
  const found = new Set<Written<CheckpointRow>>()
  for (const some of Map.groupBy(rows, placeText).values()) {
    const [first] = some
    if (first === undefined || some.length === 1) continue
    for (const part of portions(some, 256)) {
      const ids = Array.from({ length: sizeFor(part.length) }, (_, i) => part[i]?.row.checkpoint_id ?? '')
      const known = await session.query<{ checkpoint_id: string }>(
        `SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND deployment_id = ?
          AND workspace_id = ? AND checkpoint_id IN ${marks(ids.length)}`,
        [...placeOf(first.tenant, first.row), ...ids],
      )
      const knownIds = new Set(known.map(({ checkpoint_id }) => checkpoint_id))
      for (const one of part) if (knownIds.has(one.row.checkpoint_id)) found.add(one)
    }
  }
  return found
}

/**
 * Rows that replace others and keep their era; the first new row of each place; then the others. The first may start an era, which the statement for the others must
 * see: otherwise it would compare them with the newest checkpoint of the previous era.
 */
function firstsApart(
  rows: readonly Written<CheckpointRow>[],
  known: ReadonlySet<Written<CheckpointRow>>,
): Written<CheckpointRow>[][] {
  const places = new Set<string>()
  const firsts: Written<CheckpointRow>[] = []
  const others: Written<CheckpointRow>[] = []
  for (const one of rows) {
    if (known.has(one)) continue
    const place = placeText(one)
    const portion = places.has(place) ? others : firsts
    places.add(place)
    portion.push(one)
  }
  return [[...known], firsts, others]
}

/**
 * The rows in portions in which the ids of a thread rise, because a statement does not see the rows that it inserts
 * itself.
 */
function rising(rows: readonly Written<CheckpointRow>[]): Written<CheckpointRow>[][] {
  const portions: Written<CheckpointRow>[][] = [[]]
  const last = new Map<string, string>()
  for (const one of rows) {
    const { thread_id, checkpoint_id } = one.row
    if ((last.get(thread_id) ?? '') > checkpoint_id) {
      portions.push([])
      last.clear()
    }
    last.set(thread_id, checkpoint_id)
    portions.at(-1)?.push(one)
  }
  return portions
}

/** A value that is put again replaces the earlier row. No two of `rows` may have the same key. */
export async function insertBlobs(session: SqlSession, rows: readonly Written<BlobRow>[]): Promise<void> {
  const onConflict = replacing([...KEY, 'channel'], [...BLOB, 'run_id'])
  await insertRows(session, 'checkpoint_blobs', BLOB, onConflict, toValues(rows))
}

/** After all writes of the same task and index, also where a clock has gone back. */
const TIME_OF_NEW = `(SELECT max(t) FROM (SELECT CAST(? AS BIGINT) AS t UNION ALL
  SELECT w.written_at + 1 FROM checkpoint_writes w WHERE w.thread_id = ? AND w.checkpoint_ns = ?
  AND w.checkpoint_id = ? AND w.task_id = ? AND w.idx = ? AND w.deployment_id = ? AND w.workspace_id = ?) AS times)`

function timeOfNew({ deployment_id, workspace_id }: Tenant, row: WriteRow): Expression {
  const { thread_id, checkpoint_ns, checkpoint_id, task_id, idx, written_at } = row
  const key = [thread_id, checkpoint_ns, checkpoint_id, task_id, idx, deployment_id, workspace_id]
  return { sql: TIME_OF_NEW, params: [written_at, ...key] }
}

/** Special writes replace the run's earlier ones, others do not. No two of `rows` may have the same key. */
export async function insertWrites(session: SqlSession, rows: readonly Written<WriteRow>[]): Promise<void> {
  const key = [...KEY, 'task_id', 'idx', 'run_id']
  const onConflict = `${replacing(key, [...WRITE, 'written_at'])} WHERE checkpoint_writes.idx < 0`
  const writtenAt: WorkedOut<Written<Record<keyof WriteRow, SqlValue>>> = {
    column: 'written_at',
    of: ({ tenant, row }) => timeOfNew(tenant, row as unknown as WriteRow),
  }
  await insertRows(session, 'checkpoint_writes', WRITE, onConflict, toValues(rows), writtenAt)
}

function toValues<Row extends object>(
  rows: readonly Written<Row>[],
): Written<Record<keyof Row & string, SqlValue>>[] {
  return rows as unknown as Written<Record<keyof Row & string, SqlValue>>[]
}

function placeOf(tenant: Tenant, place: CheckpointNamespace): SqlValue[] {
  return [place.thread_id, place.checkpoint_ns, tenant.deployment_id, tenant.workspace_id]
}

/** Newest first. */
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

/** The values of a namespace that `keys` name; missing ones are left out. */
export async function readBlobs(
  session: SqlSession,
  tenant: Tenant,
  place: CheckpointNamespace,
  keys: readonly BlobKey[],
): Promise<FoundBlob[]> {
  const found: FoundBlob[][] = []
  for (const some of portions(keys, 256)) {
    const size = sizeFor(some.length)
    const params: SqlValue[] = []
    for (let i = 0; i < size; i++) {
      const key = some[i]
      // Padding: names no checkpoint.
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

/**
 * The channels of those `keys` (channel and version) for which some checkpoint of the namespace has written a value.
 */
export async function readKnownChannels(
  session: SqlSession,
  tenant: Tenant,
  place: CheckpointNamespace,
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
  place: CheckpointNamespace,
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
