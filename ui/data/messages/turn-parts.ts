import type { Message } from '../../api/messages.ts'

/** A turn of a conversation. */
export interface TurnParts {
  /** Up to the last question. */
  asked: readonly Message[]
  /** Calls of tools and their results; empty if there is no answer. */
  between: readonly Message[]
  answer: readonly Message[]
}

const calls = ({ content }: Message): boolean => content.some(({ type }) => type === 'tool_call')

/** Divides the messages of a turn into the question, what was done for it, and the answer. */
export function turnParts(messages: readonly Message[]): TurnParts {
  const question = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages.at(-1)
  const isAnswered = last !== undefined && last.role === 'assistant' && !calls(last)
  const answer = isAnswered ? messages.length - 1 : question + 1
  return {
    asked: messages.slice(0, question + 1),
    between: messages.slice(question + 1, answer),
    answer: messages.slice(answer),
  }
}

/** The tools that messages call, as `search × 2, lookup`. */
export function toolNamesOf(messages: readonly Message[]): string {
  const counts = new Map<string, number>()
  for (const { content } of messages)
    for (const block of content.filter(({ type }) => type === 'tool_call')) {
      const name = typeof block['name'] === 'string' ? block['name'] : 'tool'
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`)).join(', ')
}
