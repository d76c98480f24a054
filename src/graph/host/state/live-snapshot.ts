import type { StateSnapshot } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import type { AnyGraph } from '../load-graphs.ts'

/** Channels of writes that a task makes before it has finished. */
const NO_OUTPUT: ReadonlySet<string> = new Set([
  '__error__',
  '__error_source_node__',
  '__interrupt__',
  '__resume__',
  '__scheduled__',
])

/**
 * The state of a thread. Without a checkpoint in `config` it is the present state: its tasks have only the interrupts that
 * wait for an answer, and `next` has each unfinished task. LangGraph keeps the interrupts of a task that has finished, and
 * leaves a task that waits at a second interrupt out of `next`.
 */
export async function liveSnapshot(
  graph: AnyGraph,
  config: Parameters<AnyGraph['getState']>[0],
  options?: Parameters<AnyGraph['getState']>[1],
): Promise<StateSnapshot> {
  const snapshot = await graph.getState(config, options)
  const { checkpointer } = graph
  const isPresent = (config.configurable?.['checkpoint_id'] ?? '') === ''
  return isPresent && typeof checkpointer === 'object' ? withOpenTasks(checkpointer, snapshot) : snapshot
}

type Saver = Pick<BaseCheckpointSaver, 'getTuple'>

async function withOpenTasks(saver: Saver, snapshot: StateSnapshot): Promise<StateSnapshot> {
  const { tasks, config } = snapshot
  if (!tasks.some(({ interrupts }) => interrupts.length > 0)) return snapshot
  const tuple = await saver.getTuple(config)
  const ended = new Set(
    tuple?.pendingWrites?.filter(([, channel]) => !NO_OUTPUT.has(channel)).map(([task_id]) => task_id),
  )
  return {
    ...snapshot,
    next: tasks.filter(({ id }) => !ended.has(id)).map(({ name }) => name),
    tasks: await Promise.all(
      tasks.map(async (task) => {
        if (ended.has(task.id)) return { ...task, interrupts: [] }
        const { state } = task
        return state !== undefined && 'tasks' in state
          ? { ...task, state: await withOpenTasks(saver, state) }
          : task
      }),
    ),
  }
}
