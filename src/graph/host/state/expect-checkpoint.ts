import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { AppError } from '../../../base/errors.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'

/**
 * Resolves if the checkpoint of the config exists, or if the config has no checkpoint id or an empty one. Without this
 * check, LangGraph would treat a missing checkpoint as an empty state and store the result in the thread. @throws
 * AppError not_found
 */
export async function expectCheckpoint(saver: BaseCheckpointSaver, config: JsonObject): Promise<void> {
  const { configurable } = config
  const id = isObject(configurable) ? configurable['checkpoint_id'] : undefined
  if (typeof id !== 'string' || id === '' || (await saver.getTuple(config)) !== undefined) return
  throw new AppError('not_found', { message: `No checkpoint "${id}" on this thread.` })
}
