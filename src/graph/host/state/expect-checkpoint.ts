import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { AppError } from '../../../base/errors.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'

/**
 * Resolves if the config's checkpoint exists, or the config names none (an empty id does not). LangGraph itself reads a
 * missing one as an empty state, and would store the result in the thread. @throws AppError not_found
 */
export async function expectCheckpoint(saver: BaseCheckpointSaver, config: JsonObject): Promise<void> {
  const { configurable } = config
  const id = isObject(configurable) ? configurable['checkpoint_id'] : undefined
  if (typeof id !== 'string' || id === '' || (await saver.getTuple(config)) !== undefined) return
  throw new AppError('not_found', { message: `No checkpoint "${id}" on this thread.` })
}
