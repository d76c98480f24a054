import type { RunnableConfig } from '@langchain/core/runnables'
import type { CheckpointNamespace } from './rows.ts'

/** The namespace of checkpoints that a config names. @throws TypeError when it names no thread */
export function checkpointNamespace(config: RunnableConfig): CheckpointNamespace {
  const thread_id: unknown = config.configurable?.['thread_id']
  const checkpoint_ns: unknown = config.configurable?.['checkpoint_ns'] ?? ''
  if (typeof thread_id !== 'string' || typeof checkpoint_ns !== 'string') {
    throw new TypeError('a checkpoint needs `thread_id` (and `checkpoint_ns`, if any) in configurable')
  }
  return { thread_id, checkpoint_ns }
}

/** The checkpoint that a config names; undefined for the latest. */
export function checkpointIdOf(config: RunnableConfig | undefined): string | undefined {
  const id: unknown = config?.configurable?.['checkpoint_id'] ?? config?.configurable?.['thread_ts']
  return typeof id === 'string' && id !== '' ? id : undefined
}

export function configOf(
  { thread_id, checkpoint_ns }: CheckpointNamespace,
  checkpoint_id: string,
): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } }
}
