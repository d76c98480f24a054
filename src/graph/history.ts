import type { BaseCheckpointSaver } from '@langchain/langgraph'
import type { GraphCall } from '../runs/graph-host.ts'
import { isObject, type JsonObject } from '../schema/json.ts'
import type { AnyGraph } from './load-graphs.ts'
import { threadStateText } from './thread-state.ts'

/** The history that a call asks for as JSON text of ThreadStates, newest first. */
export async function readHistory(
  graph: AnyGraph,
  _saver: BaseCheckpointSaver,
  call: Extract<GraphCall, { name: 'history' }>,
): Promise<string> {
  const texts: string[] = []
  const options = {
    limit: call.limit,
    ...(call.before === null ? {} : { before: toConfig(call.before) }),
    ...(call.metadata === null ? {} : { filter: call.metadata }),
  }
  for await (const snapshot of graph.getStateHistory(call.config, options))
    texts.push(threadStateText(snapshot))
  return `[${texts.join(',')}]`
}

/** A config as it is, or a checkpoint as a config. */
function toConfig(before: JsonObject): JsonObject {
  return isObject(before['configurable']) ? before : { configurable: before }
}
