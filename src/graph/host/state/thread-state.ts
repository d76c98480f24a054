import type { StateSnapshot } from '@langchain/langgraph'
import type { GraphState } from '../../../runs/execute/graph-host.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { graphJsonText } from '../json-text.ts'
import { partOfValues } from './part-of-values.ts'

type Config = { configurable?: Record<string, unknown> | undefined } | undefined

/** A snapshot in the form of a ThreadState, without its values. It is printed by `graphJsonText`. */
function stateRest(snapshot: StateSnapshot): Record<string, unknown> {
  return {
    next: snapshot.next,
    tasks: snapshot.tasks.map((task) => ({
      id: task.id,
      name: task.name,
      path: task.path,
      error: task.error === undefined || task.error === null ? null : errorText(task.error),
      interrupts: task.interrupts,
      checkpoint:
        task.state !== undefined && 'configurable' in task.state
          ? knownFields(toCheckpoint(task.state))
          : null,
      state:
        task.state !== undefined && !('configurable' in task.state)
          ? threadState(task.state as StateSnapshot)
          : null,
      result: resultOf(task) ?? null,
    })),
    checkpoint: toCheckpoint(snapshot.config),
    metadata: snapshot.metadata ?? null,
    created_at: snapshot.createdAt ?? null,
    parent_checkpoint: toCheckpoint(snapshot.parentConfig),
    interrupts: snapshot.tasks.flatMap((task) => task.interrupts),
  }
}

function threadState(snapshot: StateSnapshot): Record<string, unknown> {
  return { values: snapshot.values, ...stateRest(snapshot) }
}

/**
 * A snapshot as the JSON text of a ThreadState. `select` names its fields, and parts of its values; null selects
 * everything. The field `values_bytes` is the size of `values` as JSON. Tasks have a `result` only if all of `values`
 * is selected.
 */
export function threadStateText(snapshot: StateSnapshot, select: readonly string[] | null = null): string {
  if (select === null) return graphJsonText(threadState(snapshot))
  const rest = stateRest(snapshot)
  const state: Record<string, unknown> = { values: snapshot.values, ...rest }
  if (select.includes('values_bytes'))
    state['values_bytes'] = Buffer.byteLength(graphJsonText(snapshot.values))
  if (!select.includes('values'))
    state['tasks'] = (rest['tasks'] as object[]).map((task) => ({ ...task, result: null }))
  const shown = Object.entries(state).filter(([field]) => select.includes(field))
  const part = select.includes('values') ? undefined : partOfValues(snapshot.values, select)
  return graphJsonText(Object.fromEntries(part === undefined ? shown : [['values', part], ...shown]))
}

/** A snapshot in the form for the thread's row and its state events. */
export function toGraphState(snapshot: StateSnapshot): GraphState {
  const open = snapshot.tasks.filter((task) => task.interrupts.length > 0)
  const interrupts = graphJsonText(Object.fromEntries(open.map((task) => [task.id, task.interrupts])))
  return {
    values_json: graphJsonText(snapshot.values),
    next: openNodes(snapshot),
    interrupts: JSON.parse(interrupts) as JsonObject,
    rest_json: graphJsonText(stateRest(snapshot)),
  }
}

/** Maximum number of names in the `next` of a GraphState, and of characters of each: they are in the head of a frame. */
const MAX_NAMES = 50
const MAX_NAME_CHARS = 500

/**
 * The unfinished nodes, each once. Normally LangGraph names them in `next`, once for each task. If the process ended
 * after all tasks of the last checkpoint, but before the next step was stored, `next` is empty although the graph is not
 * finished; then they are taken from the tasks.
 */
function openNodes({ next, tasks }: StateSnapshot): string[] {
  const names = new Set(next.length > 0 ? next : tasks.map(({ name }) => name))
  return [...names].slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_CHARS))
}

/**
 * Converts a config of LangGraph to a checkpoint of the API: `{thread_id, checkpoint_ns, checkpoint_id,
 * checkpoint_map}`, or null.
 */
export function toCheckpoint(config: Config): Record<string, unknown> | null {
  const configurable = config?.configurable
  if (configurable?.['thread_id'] === undefined) return null
  return {
    thread_id: configurable['thread_id'],
    checkpoint_ns: configurable['checkpoint_ns'] ?? '',
    checkpoint_id: configurable['checkpoint_id'] ?? null,
    checkpoint_map: configurable['checkpoint_map'] ?? null,
  }
}

/**
 * Removes fields without a value, as LangGraph's server does. For example, a task whose subgraph has not started has no
 * checkpoint id yet.
 */
function knownFields(checkpoint: ReturnType<typeof toCheckpoint>): Record<string, unknown> | null {
  if (checkpoint === null) return null
  return Object.fromEntries(Object.entries(checkpoint).filter(([, value]) => value !== null))
}

function resultOf(task: object): unknown {
  return 'result' in task ? task.result : undefined
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return graphJsonText(error)
}
