import type { CallResult } from './answer.ts'
import { type DraftBlock, type DraftMessage, newId, newMessage, textBlock } from './draft.ts'

/** An answer as messages of the prompt: the text of the model, and an empty result for each tool that it called. */
export function answerMessages({ text, calls }: CallResult): DraftMessage[] {
  const known = calls.map((call) => ({ ...call, id: call.id === '' ? `call_${call.index}` : call.id }))
  const blocks: DraftBlock[] = [
    ...(text === '' ? [] : [textBlock(text)]),
    ...known.map(
      ({ id, name, args }): DraftBlock => ({ id: newId(), kind: 'call', call_id: id, name, args }),
    ),
  ]
  const results = known.map(({ id, name }) => ({ ...newMessage('tool'), tool_call_id: id, name }))
  return [newMessage('assistant', blocks), ...results]
}
