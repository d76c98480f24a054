import type { Block, Message } from '../../api/messages.ts'

/** The messages that answer calls of tools; they are shown with the call. */
export interface ToolResults {
  /** The message that answers a call, by the block of the call. */
  of: ReadonlyMap<Block, Message>
  /** The messages that answer a call. */
  joined: ReadonlySet<Message>
}

/**
 * The answers of tools among messages of one conversation. Some clients use the ids of calls again (`call_0` in every
 * turn). So a message answers the last call before it that has its id and no answer yet.
 */
export function toolResults(messages: readonly Message[]): ToolResults {
  const open = new Map<unknown, Block[]>()
  const of = new Map<Block, Message>()
  for (const message of messages) {
    const calls = message.content.filter(({ type }) => type === 'tool_call')
    for (const { id } of calls) open.delete(id)
    for (const call of calls) open.set(call['id'], [...(open.get(call['id']) ?? []), call])
    const answered = message.role === 'tool' ? open.get(message.tool_call_id)?.shift() : undefined
    if (answered !== undefined) of.set(answered, message)
  }
  return { of, joined: new Set(of.values()) }
}
