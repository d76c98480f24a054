import type { Command, StateSnapshot } from '@langchain/langgraph'
import { AppError } from '../../base/errors.ts'
import type { GraphAnswer } from '../../runs/execute/graph-host.ts'
import type { Tenant } from '../../runs/model.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import { bindGraph } from './bind-graph.ts'
import type { ExecuteDeps } from './execute.ts'
import { expectCheckpoint } from './state/expect-checkpoint.ts'
import type { GraphStorage } from './storage.ts'
import { type HistorySource, readThreadHistory } from './state/history.ts'
import { graphJsonText } from './json-text.ts'
import { describeGraph, describeSchemas, describeSubgraphs } from './describe.ts'
import type { AnyGraph } from './load-graphs.ts'
import type { HostCall } from '../pool/messages.ts'
import type { SchemaReader } from './schemas.ts'
import { liveSnapshot } from './state/live-snapshot.ts'
import type { StateTexts } from './state/state-texts.ts'
import { threadStateText, toCheckpoint, toGraphState } from './state/thread-state.ts'
import { toCommand } from './to-command.ts'

export interface CallDeps extends Pick<ExecuteDeps, 'graphs' | 'storage'> {
  texts: StateTexts
  schemasOf(graph_id: string): SchemaReader
}

/** The purpose of a call, for factories; other calls read an assistant. */
const ACCESS: Partial<Record<HostCall['name'], 'threads.read' | 'threads.update'>> = {
  state: 'threads.read',
  end_state: 'threads.read',
  history: 'threads.read',
  update_state: 'threads.update',
  bulk_update: 'threads.update',
}

/** Answers a call of the server by executing a graph's own code. Throws LangGraph's errors, and AppError not_found. */
export async function answerCall(deps: CallDeps, tenant: Tenant, call: HostCall): Promise<GraphAnswer> {
  if (call.name === 'embed') return { body: JSON.stringify(await embed(deps.storage, call.texts)) }
  const saver = deps.storage.checkpointer(tenant)
  const made_with = 'made_with' in call ? call.made_with : undefined
  const runtime = { accessContext: ACCESS[call.name] ?? 'assistants.read', executionRuntime: null } as const
  const unbound = await deps.graphs.graph(call.graph_id, made_with ?? call.config, runtime)
  const graph = bindGraph(unbound, saver, deps.storage.store(tenant))
  if (call.name === 'state' || call.name === 'update_state') await expectCheckpoint(saver, call.config)
  switch (call.name) {
    case 'state':
      return { body: threadStateText(await liveSnapshot(graph, call.config, { subgraphs: call.subgraphs })) }
    case 'end_state':
      return withState('null', await liveSnapshot(graph, call.config))
    case 'history':
      return readThreadHistory(historySource(deps, tenant, graph, call.graph_id), call)
    case 'update_state':
      return updateState(graph, call.config, [[{ values: call.values, as_node: call.as_node }]])
    case 'bulk_update':
      return updateState(graph, call.config, toSupersteps(call.supersteps))
    case 'graph':
      return { body: await describeGraph(graph, call) }
    case 'subgraphs':
      return { body: await describeSubgraphs(graph, call, deps.schemasOf(call.graph_id)) }
    case 'schemas':
      return { body: await describeSchemas(graph, call, deps.schemasOf(call.graph_id)) }
  }
}

function historySource(
  { graphs, storage, texts }: CallDeps,
  tenant: Tenant,
  graph: AnyGraph,
  graph_id: string,
): HistorySource {
  return { graph, storage, tenant, texts: graphs.isFixed(graph_id) ? texts : undefined }
}

async function embed({ embed: vectorsOf }: GraphStorage, texts: readonly string[]): Promise<unknown> {
  if (vectorsOf === undefined) throw new AppError('invalid_request', { message: 'The store has no index.' })
  return vectorsOf(texts)
}

interface Update {
  values: JsonValue
  as_node: string | null
  command?: JsonObject
}

function toSupersteps(supersteps: JsonValue): Update[][] {
  const steps = Array.isArray(supersteps) ? supersteps : []
  return steps.map((step) => {
    const updates = isObject(step) && Array.isArray(step['updates']) ? step['updates'] : []
    return updates.filter(isObject).map((update) => ({
      values: update['values'] ?? null,
      as_node: typeof update['as_node'] === 'string' ? update['as_node'] : null,
      ...(isObject(update['command']) ? { command: update['command'] } : {}),
    }))
  })
}

async function updateState(
  graph: AnyGraph,
  config: JsonObject,
  supersteps: Update[][],
): Promise<GraphAnswer> {
  const after = await graph.bulkUpdateState(
    config,
    supersteps.map((updates) => ({
      updates: updates.map(({ values, as_node, command }) => ({
        values: command === undefined ? toUpdateValues(values) : toCommand(command),
        ...(as_node === null ? {} : { asNode: as_node }),
      })),
    })),
  )
  const thread_id = after.configurable?.['thread_id']
  const snapshot = await liveSnapshot(graph, { configurable: { thread_id, checkpoint_ns: '' } })
  const shown = Object.entries(after.configurable ?? {}).filter(([key]) => !key.startsWith('__'))
  const body = graphJsonText({ checkpoint: toCheckpoint(after), configurable: Object.fromEntries(shown) })
  return withState(body, snapshot)
}

/**
 * The values of an update. A list of objects is several writes of one node: reducers get all of them, and LangGraph refuses
 * a second value of a channel without a reducer.
 */
function toUpdateValues(values: JsonValue): Record<string, unknown> | readonly Command[] {
  if (Array.isArray(values) && values.length === 0) return {}
  if (Array.isArray(values) && values.every(isObject)) return values.map((update) => toCommand({ update }))
  return values as Record<string, unknown>
}

function withState(body: string, snapshot: StateSnapshot): GraphAnswer {
  return snapshot.createdAt === undefined ? { body } : { body, state: toGraphState(snapshot) }
}
