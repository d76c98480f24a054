import type {
  CancelAction,
  Run,
  RunStatus,
  Tenant,
  Thread,
  ThreadStatus,
  ThreadTtl,
} from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonValue } from '../../../schema/json.ts'
import { rawJson, toJsonText } from '../../../schema/raw-json.ts'
import type { SqlParam } from '../driver/database.ts'
import { textParam, wholeText } from '../pieces/large-text.ts'

/** A value of a run that is longer than this is not parsed. */
const RAW_CHARS = 64 << 10

export interface ThreadKey extends Tenant {
  thread_id: string
}

/** `WHERE` terms of a thread's key. `keyValues` returns the parameters. */
export const KEY = 'thread_id = ? AND deployment_id = ? AND workspace_id = ?'

export function keyValues(key: ThreadKey): [string, string, string] {
  return [key.thread_id, key.deployment_id, key.workspace_id]
}

/**
 * Placeholders and values of a list, which must not be empty. The list is padded to a power of two, so that there are
 * few different statements.
 */
export function inList(values: readonly string[]): { places: string; values: string[] } {
  const size = 2 ** Math.ceil(Math.log2(Math.max(values.length, 1)))
  const last = values.at(-1) ?? ''
  const filled = [...values, ...Array<string>(size - values.length).fill(last)]
  return { places: `(${filled.map(() => '?').join(', ')})`, values: filled }
}

export interface ThreadRow extends ThreadKey {
  created_at: number
  updated_at: number
  state_updated_at: number
  status: ThreadStatus
  ttl_strategy: ThreadTtl['strategy'] | null
  ttl_ms: number | null
  expires_at: number | null
  error: string | null
  metadata: string
  config: string
  interrupts: string
  state_values: string | null
}

const THREAD_HEAD = `t.thread_id, t.deployment_id, t.workspace_id, t.created_at, t.updated_at,
  t.state_updated_at, t.status, t.ttl_strategy, t.ttl_ms, t.expires_at, t.error, t.metadata, t.config, t.interrupts`

/** SELECT of whole threads `t` with their values; the caller appends a WHERE. */
export const SELECT_THREADS = `SELECT ${THREAD_HEAD}, ${wholeText('s.state_values', 's.')} AS state_values
  FROM threads t LEFT JOIN thread_states s
  ON s.thread_id = t.thread_id AND s.deployment_id = t.deployment_id AND s.workspace_id = t.workspace_id`

/** As `SELECT_THREADS`, without the values. */
export const SELECT_HEADS = `SELECT ${THREAD_HEAD}, NULL AS state_values FROM threads t`

/** `KEY` for the table alias `t` of `SELECT_THREADS`. */
export const SELECTED_KEY = 't.thread_id = ? AND t.deployment_id = ? AND t.workspace_id = ?'

export function toThread(row: ThreadRow): Thread {
  const { ttl_strategy, ttl_ms, expires_at } = row
  const hasTtl = ttl_strategy !== null && ttl_ms !== null
  return {
    thread_id: row.thread_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    state_updated_at: row.state_updated_at,
    metadata: parseExact(row.metadata) as Thread['metadata'],
    status: row.status,
    config: parseExact(row.config) as Thread['config'],
    values_json: row.state_values,
    interrupts: parseExact(row.interrupts) as Thread['interrupts'],
    error: parseOptional(row.error) as Thread['error'],
    ttl: hasTtl ? { strategy: ttl_strategy, ttl_minutes: ttl_ms / 60_000, expires_at } : null,
  }
}

export interface RunRow extends ThreadKey {
  run_id: string
  seq: number
  status: RunStatus
  assistant_id: string
  graph_id: string
  multitask_strategy: Run['multitask_strategy']
  attempt: number
  created_at: number
  updated_at: number
  due_at: number
  started_at: number | null
  ended_at: number | null
  trace_id: string | null
  revision_id: string | null
  cancel_action: CancelAction | null
  lease_owner: string | null
  lease_token: string | null
  lease_until: number | null
  caller: string
  error: string | null
  metadata: string
  /** JSON without `input` and `command`, which are columns of their own. */
  kwargs: string
  input: string | null
  command: string | null
  partial_messages: string | null
  interrupted: number
  needs_version: number
  a2a_task: string | null
}

const RUN_COLUMNS = [
  'run_id',
  'thread_id',
  'deployment_id',
  'workspace_id',
  'seq',
  'status',
  'assistant_id',
  'graph_id',
  'multitask_strategy',
  'attempt',
  'created_at',
  'updated_at',
  'due_at',
  'started_at',
  'ended_at',
  'trace_id',
  'revision_id',
  'cancel_action',
  'lease_owner',
  'lease_token',
  'lease_until',
  'caller',
  'error',
  'metadata',
  'kwargs',
  'input',
  'command',
  'partial_messages',
  'interrupted',
  'needs_version',
  'a2a_task',
] as const satisfies readonly (keyof RunRow)[]

/** All columns of `runs`, for SELECT and RETURNING. */
export const RUN_FIELDS = RUN_COLUMNS.map((column) =>
  column === 'input' ? `${wholeText(column)} AS input` : column,
).join(', ')

/** SELECT of a run by its id, deployment and workspace, on any thread. */
export const FIND_RUN = `SELECT ${RUN_FIELDS} FROM runs WHERE run_id = ? AND deployment_id = ? AND workspace_id = ?`

/** Inserts a whole row of `runs`. `runValues` returns the parameters. */
export const INSERT_RUN = `INSERT INTO runs (${RUN_COLUMNS.join(', ')}) VALUES (${RUN_COLUMNS.map(() => '?').join(', ')})`

export function runValues(row: RunRow): SqlParam[] {
  return RUN_COLUMNS.map((column) => (column === 'input' ? textParam(row.input, row) : row[column]))
}

export function toRun(row: RunRow): Run {
  return {
    run_id: row.run_id,
    thread_id: row.thread_id,
    assistant_id: row.assistant_id,
    graph_id: row.graph_id,
    status: row.status,
    created_at: row.created_at,
    updated_at: row.updated_at,
    due_at: row.due_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    metadata: parseExact(row.metadata) as Run['metadata'],
    kwargs: {
      input: readText(row.input),
      command: readText(row.command),
      ...(parseExact(row.kwargs) as object),
    } as Run['kwargs'],
    multitask_strategy: row.multitask_strategy,
    attempt: row.attempt,
    caller: JSON.parse(row.caller) as Run['caller'],
    trace_id: row.trace_id,
    revision_id: row.revision_id,
    error: parseOptional(row.error) as Run['error'],
    partial_messages: parseOptional(row.partial_messages),
    interrupted: row.interrupted === 1,
  }
}

export function leaseOf(row: RunRow & { lease_token: string }): Lease {
  const { workspace_id, deployment_id, thread_id, run_id, lease_token } = row
  return { workspace_id, deployment_id, thread_id, run_id, token: lease_token }
}

function parseOptional(text: string | null): JsonValue {
  return text === null ? null : parseExact(text)
}

/** Parses a JSON text; a large value stays text. */
function readText(text: string | null): JsonValue {
  return text !== null && text.length > RAW_CHARS ? rawJson(text) : parseOptional(text)
}

/** JSON text of a value, which may be an unparsed text; null stays null. */
export function optionalText(value: JsonValue): string | null {
  return value === null ? null : toJsonText(value)
}

/** JSON text of a column's value; null stays null. */
export function optionalJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
