import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { AppError } from '../base/errors.ts'
import { isObject, type JsonObject } from '../schema/json.ts'

/**
 * Resolves when the checkpoint that a config names is there, or it names none (an empty id does not). LangGraph itself
 * takes one that is not there for an empty state, and what is made of that becomes the thread's.
 * @throws AppError not_found
 */
export async function expectCheckpoint(saver: BaseCheckpointSaver, config: JsonObject): Promise<void> {
  const { configurable } = config
  const id = isObject(configurable) ? configurable['checkpoint_id'] : undefined
  if (typeof id !== 'string' || id === '' || (await saver.getTuple(config)) !== undefined) return
  throw new AppError('not_found', { message: `No checkpoint "${id}" on this thread.` })
}
