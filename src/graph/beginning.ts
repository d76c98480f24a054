import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import type { GraphJob } from '../runs/graph-host.ts'
import { isObject, type JsonObject } from '../schema/json.ts'
import { expectCheckpoint } from './expect-checkpoint.ts'
import type { AnyGraph } from './load-graphs.ts'
import { toCommand } from './to-command.ts'

/** What a graph is given, and where it begins: `configurable` names a checkpoint other than the last one. */
export interface Beginning {
  input: unknown
  configurable: JsonObject
}

/**
 * A later attempt goes on from the last checkpoint that its run made, if there is one: input, command and fork have then
 * had their effect already.
 * @throws AppError not_found for a fork of a checkpoint that the thread does not have
 */
export async function beginning(
  { run }: GraphJob,
  graph: AnyGraph,
  saver: BaseCheckpointSaver,
): Promise<Beginning> {
  const { thread_id, kwargs } = run
  if (run.attempt > 1) {
    const last = await saver.getTuple({ configurable: { thread_id, checkpoint_ns: '' } })
    const owner = last?.metadata as { run_id?: unknown } | undefined
    if (owner?.run_id === run.run_id) return { input: null, configurable: {} }
  }
  const configurable = kwargs.checkpoint === null ? {} : forkOf(kwargs.checkpoint)
  const config = { configurable: { thread_id, checkpoint_ns: '', ...configurable } }
  await expectCheckpoint(saver, config)
  if (kwargs.command === null) return { input: kwargs.input, configurable }
  return { input: toCommand(await heard(kwargs.command, graph, config)), configurable }
}

function forkOf({ checkpoint_id, checkpoint_ns, checkpoint_map }: JsonObject): JsonObject {
  return {
    ...(typeof checkpoint_id === 'string' ? { checkpoint_id } : {}),
    ...(typeof checkpoint_ns === 'string' ? { checkpoint_ns } : {}),
    ...(isObject(checkpoint_map) ? { checkpoint_map } : {}),
  }
}

/**
 * LangGraph takes `false`, `0` and `''` for no answer at all, unless they are given by the id of the interrupt: so they
 * are, to all that are open, which any other single answer goes to as well.
 */
async function heard(command: JsonObject, graph: AnyGraph, config: JsonObject): Promise<JsonObject> {
  const { resume } = command
  if (resume !== false && resume !== 0 && resume !== '') return command
  const { tasks } = await graph.getState(config)
  const open = tasks.flatMap(({ interrupts }) => interrupts)
  if (open.length === 0) return command
  return { ...command, resume: Object.fromEntries(open.map(({ id }) => [id, resume])) }
}
