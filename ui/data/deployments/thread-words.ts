import type { DeploymentThread } from './contents.ts'
import { wordsOf } from './words.ts'

/** What lists read of each thread. Its values may be large, so only two messages are read. */
export const READ_WORDS = {
  sort_by: 'updated_at',
  select: ['thread_id', 'status', 'created_at', 'updated_at', 'metadata', 'interrupts', 'error'],
  extract: { first: 'values.messages[0]', last: 'values.messages[-1]' },
}

function messageWords(message: unknown): string {
  return message === null || message === undefined ? '' : wordsOf({ messages: [message] })
}

/** The first message of a thread; '' for a thread without messages. */
export function firstWords({ extracted }: DeploymentThread): string {
  return messageWords(extracted?.first)
}

/** What a thread waits for, why it failed, or what was said last. */
export function lastWords({ status, interrupts, error, extracted }: DeploymentThread): string {
  const [question] = Object.values(interrupts ?? {}).flat()
  if (status === 'interrupted' && question !== undefined) return wordsOf(question.value)
  if (status === 'error' && typeof error?.message === 'string') return error.message
  return messageWords(extracted?.last)
}
