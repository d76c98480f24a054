import type { Batch } from '../../../events/event-log.ts'
import type { EventStream } from '../../../runs/streams/streams.ts'
import type { JsonValue } from '../../../schema/json.ts'
import { lastAnswer } from './content.ts'
import type { Part, Task, TaskEvent } from './model.ts'

/**
 * The events of a task: the task as it begins, its answer so far while the run goes on, then what `end` reads when the
 * run has ended (rule A2A-10).
 */
export async function* taskEvents(
  begun: Task,
  stream: EventStream,
  end: () => Promise<Task>,
): AsyncGenerator<TaskEvent> {
  const { id: taskId, contextId } = begun
  yield { task: begun }
  let sent = ''
  for await (const batch of stream.batches) {
    const answer = answerOf(batch)
    const text = JSON.stringify(answer?.parts)
    if (answer === undefined || text === sent) continue
    sent = text
    const { id: messageId, parts } = answer
    const message = { messageId, taskId, contextId, role: 'agent', parts } as const
    const status = { state: 'working', timestamp: new Date().toISOString(), message } as const
    yield { status, taskId, contextId, final: false }
  }
  yield* endEvents(await end())
}

/** The events that end a stream: the artifacts of the task, and its status. */
export function* endEvents({ id: taskId, contextId, artifacts = [], status }: Task): Generator<TaskEvent> {
  for (const artifact of artifacts) yield { artifact, taskId, contextId }
  yield { status, taskId, contextId, final: true }
}

/** The newest message of the agent in a batch: later ones contain the earlier ones. */
function answerOf(batch: Batch): { id: string; parts: Part[] } | undefined {
  for (const item of batch.toReversed()) {
    if ('gap' in item || !/^messages\/(partial|complete)$/.test(item.event)) continue
    const answer = lastAnswer(JSON.parse(item.data) as JsonValue)
    if (answer !== undefined) return { id: answer.id ?? item.id, parts: answer.parts }
  }
  return undefined
}
