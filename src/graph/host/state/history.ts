import type { GraphAnswer, GraphCall } from '../../../runs/execute/graph-host.ts'
import type { Tenant } from '../../../runs/model.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import type { GraphStorage } from '../storage.ts'
import type { AnyGraph } from '../load-graphs.ts'
import type { StateTexts } from './state-texts.ts'
import { threadStateText } from './thread-state.ts'

type HistoryCall = Extract<GraphCall, { name: 'history' }>

/** Inputs from which a history is read. */
export interface HistorySource {
  graph: AnyGraph
  storage: Pick<GraphStorage, 'marks'>
  tenant: Tenant
  /**
   * Cache of the texts of states. Undefined for a graph that a factory makes for each call, since its states may
   * differ.
   */
  texts: StateTexts | undefined
}

/** One state of the response. */
interface Shown {
  id: string
  /** JSON of the ThreadState. */
  text: string
}

/** Maximum length of a response, in characters; a larger first state is still returned. */
const ANSWER_CHARS = 32 << 20

/**
 * JSON text of a thread's ThreadStates, newest first. If they do not all fit into one response, `next` is the
 * checkpoint of the last state in the response; the next call sends it as `before`.
 */
export async function readThreadHistory(source: HistorySource, call: HistoryCall): Promise<GraphAnswer> {
  const found = (await readCached(source, call)) ?? (await readStates(source.graph, call, call.limit))
  const shown = fitting(found)
  const body = `[${shown.map(({ text }) => text).join(',')}]`
  const last = shown.at(-1)
  return shown.length < found.length && last !== undefined ? { body, next: last.id } : { body }
}

function fitting(states: readonly Shown[]): readonly Shown[] {
  let chars = 0
  const end = states.findIndex(({ text }, index) => {
    chars += text.length
    return index > 0 && chars > ANSWER_CHARS
  })
  return end < 0 ? states : states.slice(0, end)
}

/**
 * Reads states from LangGraph's own history until they exceed the maximum length of a response. Each state takes 0.1
 * ms.
 */
async function readStates(graph: AnyGraph, call: HistoryCall, limit: number): Promise<Shown[]> {
  const shown: Shown[] = []
  let chars = 0
  const options = {
    limit,
    ...(call.before === null ? {} : { before: toConfig(call.before) }),
    ...(call.metadata === null ? {} : { filter: call.metadata }),
  }
  for await (const snapshot of graph.getStateHistory(call.config, options)) {
    const text = threadStateText(snapshot, call.select)
    shown.push({ id: idOf(snapshot.config) ?? '', text })
    chars += text.length
    if (chars > ANSWER_CHARS && shown.length > 1) break
  }
  return shown
}

/**
 * As `readStates`, but builds only states that are new or have changed since the last call, and takes the others from
 * the cache. Undefined if changes are unknown: for a subgraph, with a filter, or if the thread changed meanwhile.
 */
async function readCached(source: HistorySource, call: HistoryCall): Promise<Shown[] | undefined> {
  const { graph, storage, tenant, texts } = source
  const { thread_id, checkpoint_ns } = configurableOf(call.config)
  if (texts === undefined || call.metadata !== null || typeof thread_id !== 'string') return undefined
  if (checkpoint_ns !== undefined && checkpoint_ns !== '') return undefined
  const scan = {
    thread_id,
    checkpoint_id: idOf(call.config),
    before: call.before === null ? undefined : idOf(toConfig(call.before)),
  }
  const marks = await storage.marks(tenant, { ...scan, limit: call.limit })
  if (marks.length === 0) return undefined
  // The selection as JSON, in which an empty selection differs from a missing one, and names may contain any character.
  const fields = JSON.stringify(call.select)
  const keyOf = (id: string): string => `${call.graph_id} ${thread_id} ${id} ${fields}`
  const known = marks.map(({ checkpoint_id: id, mark }) => ({ id, text: texts.get(keyOf(id), mark) }))
  const fresh = known.findLastIndex(({ text }) => text === undefined) + 1
  if (fresh === 0) return known as Shown[]
  const made = await readStates(graph, call, fresh)
  if (made.length < fresh && fitting(made).length < made.length) return made
  const after = await storage.marks(tenant, { ...scan, limit: fresh })
  const isSame = after.every(({ checkpoint_id, mark }, i) => {
    return (
      made[i]?.id === checkpoint_id && marks[i]?.checkpoint_id === checkpoint_id && marks[i].mark === mark
    )
  })
  if (!isSame || made.length !== fresh || after.length !== fresh) return undefined
  for (const [i, { mark }] of after.entries()) {
    const { id, text } = made[i] as Shown
    texts.set(keyOf(id), mark, text)
  }
  return [...made, ...(known.slice(fresh) as Shown[])]
}

function configurableOf(config: object): Record<string, unknown> {
  return 'configurable' in config && isObject(config.configurable) ? config.configurable : {}
}

function idOf(config: object): string | undefined {
  const { checkpoint_id, thread_ts } = configurableOf(config)
  const id = checkpoint_id ?? thread_ts
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** A config with only the id of the checkpoint in `before`, which is a config or a checkpoint. */
function toConfig(before: JsonObject): JsonObject {
  const checkpoint_id = idOf(isObject(before['configurable']) ? before : { configurable: before })
  return { configurable: checkpoint_id === undefined ? {} : { checkpoint_id } }
}
