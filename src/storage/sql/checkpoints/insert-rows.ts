import { chunksOf } from '../../../base/chunks.ts'
import type { Tenant } from '../../../runs/model.ts'
import { type Expression, eraOfNew } from '../checkpoint-eras.ts'
import type { SqlParam, SqlSession, TxSession } from '../driver/database.ts'
import { textParam } from '../pieces/large-text.ts'
import {
  type BlobRow,
  CHECKPOINT,
  type CheckpointRow,
  KEY,
  marks,
  placeValues,
  sizeFor,
  type WriteRow,
} from './rows.ts'

export interface Written<Row> {
  tenant: Tenant
  run_id: string
  row: Row
}

const OWNER = ['workspace_id', 'deployment_id', 'run_id'] as const
const BLOB = [...KEY, 'channel', 'version', 'type', 'value'] as const
const WRITE = [...KEY, 'task_id', 'idx', 'channel', 'type', 'value'] as const

/**
 * Maximum number of rows in an insert. Inserts cannot be padded, so there is a statement for each number of rows, which
 * each connection prepares once.
 */
const INSERT_ROWS = 16

/** A column that the database computes for each row. */
interface WorkedOut<Row> {
  column: string
  of(row: Row): Expression
}

/** The texts of insert statements by table and number of rows: long texts, which are made once. */
export type InsertTexts = Map<string, string>

/** Inserts rows in as few statements as possible. */
function insertRows<Name extends string>(
  session: TxSession,
  texts: InsertTexts,
  table: string,
  columns: readonly Name[],
  onConflict: string,
  rows: readonly Written<Record<Name, SqlParam>>[],
  workedOut?: WorkedOut<Written<Record<Name, SqlParam>>>,
): void {
  const textOf = (first: Written<Record<Name, SqlParam>>, count: number): string => {
    const more = workedOut === undefined ? [] : [workedOut.column]
    const into = `INSERT INTO ${table} (${[...OWNER, ...columns, ...more].join(', ')}) VALUES `
    const expression = workedOut?.of(first).sql
    const plain = marks(OWNER.length + columns.length)
    const tuple = expression === undefined ? plain : `${plain.slice(0, -1)}, ${expression})`
    return `${into}${Array(count).fill(tuple).join(', ')} ${onConflict}`
  }
  for (const portion of chunksOf(rows, INSERT_ROWS)) {
    const [first] = portion
    if (first === undefined) continue
    const key = `${table} ${portion.length}`
    const text = texts.get(key) ?? textOf(first, portion.length)
    texts.set(key, text)
    const params: SqlParam[] = []
    for (const one of portion) {
      const { tenant, run_id, row } = one
      params.push(tenant.workspace_id, tenant.deployment_id, run_id)
      for (const column of columns) params.push(row[column])
      if (workedOut !== undefined) params.push(...workedOut.of(one).params)
    }
    session.send(text, params)
  }
}

function replacing(key: readonly string[], columns: readonly string[]): string {
  const sets = columns
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`)
  return `ON CONFLICT (${[...key, 'deployment_id', 'workspace_id'].join(', ')}) DO UPDATE SET ${sets.join(', ')}`
}

/**
 * Inserts checkpoints; a row replaces a stored row with the same key. `known` contains the keys of the rows that
 * replace others. All keys in `rows` must differ.
 */
export function insertCheckpoints(
  session: TxSession,
  texts: InsertTexts,
  rows: readonly Written<CheckpointRow>[],
  known: ReadonlySet<string>,
): void {
  const onConflict = replacing(KEY, [...CHECKPOINT, 'run_id'])
  const era: WorkedOut<Written<Record<keyof CheckpointRow, SqlParam>>> = {
    column: 'era',
    of: ({ tenant, row }) => eraOfNew(tenant, row as unknown as CheckpointRow),
  }
  for (const portion of rising(rows)) {
    for (const some of firstsApart(portion, known))
      insertRows(session, texts, 'checkpoints', CHECKPOINT, onConflict, toValues(some), era)
  }
}

function checkpointText(one: Written<CheckpointRow>): string {
  return `${placeText(one)} ${one.row.checkpoint_id}`
}

function placeText({ tenant, row }: Written<CheckpointRow>): string {
  return JSON.stringify([tenant.workspace_id, tenant.deployment_id, row.thread_id, row.checkpoint_ns])
}

/**
 * The keys of those `rows` that replace a stored row. The only row of a thread and namespace counts as new in any case.
 */
export async function storedAlready(
  session: SqlSession,
  rows: readonly Written<CheckpointRow>[],
): Promise<Set<string>> {
  const parts = [...Map.groupBy(rows, placeText).values()]
    .filter(({ length }) => length > 1)
    .flatMap((some) => chunksOf(some, 256))
  const known = await Promise.all(
    parts.map(async (part) => {
      const ids = Array.from({ length: sizeFor(part.length) }, (_, i) => part[i]?.row.checkpoint_id ?? '')
      const place = part[0] === undefined ? [] : placeValues(part[0].tenant, part[0].row)
      const stored = await session.query<{ checkpoint_id: string }>(
        `SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND deployment_id = ?
          AND workspace_id = ? AND checkpoint_id IN ${marks(ids.length)}`,
        [...place, ...ids],
      )
      const storedIds = new Set(stored.map(({ checkpoint_id }) => checkpoint_id))
      return part.filter(({ row }) => storedIds.has(row.checkpoint_id)).map(checkpointText)
    }),
  )
  return new Set(known.flat())
}

/**
 * Splits rows into three lists: rows that replace others and keep their era, the first new row of each thread and
 * namespace, and all other new rows. The first new row may start an era. The statement for the other rows must see this
 * era; otherwise it would compare them with the newest checkpoint of the previous era.
 */
function firstsApart(
  rows: readonly Written<CheckpointRow>[],
  known: ReadonlySet<string>,
): Written<CheckpointRow>[][] {
  const places = new Set<string>()
  const firsts: Written<CheckpointRow>[] = []
  const others: Written<CheckpointRow>[] = []
  for (const one of rows) {
    if (known.has(checkpointText(one))) continue
    const place = placeText(one)
    const portion = places.has(place) ? others : firsts
    places.add(place)
    portion.push(one)
  }
  return [rows.filter((one) => known.has(checkpointText(one))), firsts, others]
}

/**
 * Splits the rows into portions in which the ids of each thread increase. A lower id starts an era, and a statement
 * cannot see the rows that it inserts itself.
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

/** Inserts values; a value that is put again replaces the earlier row. All keys in `rows` must differ. */
export function insertBlobs(session: TxSession, texts: InsertTexts, rows: readonly Written<BlobRow>[]): void {
  const onConflict = replacing([...KEY, 'channel'], [...BLOB, 'run_id'])
  insertRows(session, texts, 'checkpoint_blobs', BLOB, onConflict, toValues(rows.map(withLargeText)))
}

/** SQL of the time of a new write: later than all writes of the same task and index, even if a clock was set back. */
const TIME_OF_NEW = `(SELECT max(t) FROM (SELECT CAST(? AS BIGINT) AS t UNION ALL
  SELECT w.written_at + 1 FROM checkpoint_writes w WHERE w.thread_id = ? AND w.checkpoint_ns = ?
  AND w.checkpoint_id = ? AND w.task_id = ? AND w.idx = ? AND w.deployment_id = ? AND w.workspace_id = ?) AS times)`

function timeOfNew({ deployment_id, workspace_id }: Tenant, row: WriteRow): Expression {
  const { thread_id, checkpoint_ns, checkpoint_id, task_id, idx, written_at } = row
  const key = [thread_id, checkpoint_ns, checkpoint_id, task_id, idx, deployment_id, workspace_id]
  return { sql: TIME_OF_NEW, params: [written_at, ...key] }
}

/**
 * Inserts writes of tasks. A special write (negative index) replaces the run's earlier one; an ordinary write does not.
 * All keys in `rows` must differ.
 */
export function insertWrites(
  session: TxSession,
  texts: InsertTexts,
  rows: readonly Written<WriteRow>[],
): void {
  const key = [...KEY, 'task_id', 'idx', 'run_id']
  const onConflict = `${replacing(key, [...WRITE, 'written_at'])} WHERE checkpoint_writes.idx < 0`
  const writtenAt: WorkedOut<Written<Record<keyof WriteRow, SqlParam>>> = {
    column: 'written_at',
    of: ({ tenant, row }) => timeOfNew(tenant, row as unknown as WriteRow),
  }
  insertRows(
    session,
    texts,
    'checkpoint_writes',
    WRITE,
    onConflict,
    toValues(rows.map(withLargeText)),
    writtenAt,
  )
}

function withLargeText<Row extends BlobRow | WriteRow>({ tenant, run_id, row }: Written<Row>) {
  const { thread_id, type, value } = row
  const isBase64 = type.startsWith('python:')
  return { tenant, run_id, row: { ...row, value: textParam(value, { ...tenant, thread_id }, isBase64) } }
}

function toValues<Row extends object>(
  rows: readonly Written<Row>[],
): Written<Record<keyof Row & string, SqlParam>>[] {
  return rows as unknown as Written<Record<keyof Row & string, SqlParam>>[]
}
