import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import type { GraphJob } from '../../runs/execute/graph-host.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import { expectCheckpoint } from './state/expect-checkpoint.ts'
import { liveSnapshot } from './state/live-snapshot.ts'
import type { AnyGraph } from './load-graphs.ts'
import { toCommand } from './to-command.ts'

/**
 * The input of a graph, and the config of the checkpoint from which it starts; an empty config for the last checkpoint.
 */
export interface RunInput {
  input: unknown
  configurable: JsonObject
}

/**
 * Returns the input of an attempt. If an earlier attempt of the run has stored a checkpoint, the attempt continues from
 * it: the input, the command or the fork has already taken effect. @throws AppError not_found for a fork of a
 * checkpoint that the thread does not have
 */
export async function runInput(
  { run }: GraphJob,
  graph: AnyGraph,
  saver: BaseCheckpointSaver,
): Promise<RunInput> {
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
  return { input: toCommand(await answerInterruptsById(kwargs.command, graph, config)), configurable }
}

function forkOf({ checkpoint_id, checkpoint_ns, checkpoint_map }: JsonObject): JsonObject {
  return {
    ...(typeof checkpoint_id === 'string' ? { checkpoint_id } : {}),
    ...(typeof checkpoint_ns === 'string' ? { checkpoint_ns } : {}),
    ...(isObject(checkpoint_map) ? { checkpoint_map } : {}),
  }
}

/**
 * Converts the answers `false`, `0` and `''` to answers by the id of each open interrupt, because LangGraph ignores
 * them without an id. Returns other commands unchanged.
 */
async function answerInterruptsById(
  command: JsonObject,
  graph: AnyGraph,
  config: JsonObject,
): Promise<JsonObject> {
  const { resume } = command
  if (resume !== false && resume !== 0 && resume !== '') return command
  const { tasks } = await liveSnapshot(graph, config)
  const open = tasks.flatMap(({ interrupts }) => interrupts)
  if (open.length === 0) return command
  return { ...command, resume: Object.fromEntries(open.map(({ id }) => [id, resume])) }
}
