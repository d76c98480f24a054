import type { Block, Message } from '../../api/messages.ts'
import { alignLists } from './align.ts'

export interface MessageText {
  role: string
  text: string
}

/** The messages of two runs at one place; undefined on a side that has none. */
export interface MessagePair {
  a: MessageText | undefined
  b: MessageText | undefined
  isEqual: boolean
}

function blockText(block: Block, json: (value: unknown) => string): string {
  if (block.type === 'text' || block.type === 'reasoning') return String(block['text'] ?? '')
  if (block.type === 'tool_call' || block.type === 'server_tool_call')
    return `${String(block['name'] ?? 'tool')} ${json(block['args'])}`
  if (typeof block['base64'] === 'string') return `[${block.type}, ${block['base64'].length} characters]`
  return json(block)
}

/** Messages as texts; `json` converts values that are not texts. */
export function messageTexts(messages: readonly Message[], json: (value: unknown) => string): MessageText[] {
  return messages.map(({ role, content }) => ({
    role,
    text: content.map((block) => blockText(block, json)).join('\n'),
  }))
}

/** Aligns messages: first equal ones, then changed messages that have the same role and stand at the same place. */
export function pairMessages(a: readonly MessageText[], b: readonly MessageText[]): MessagePair[] {
  const keyOf = ({ role, text }: MessageText): string => `${role}\n${text}`
  const pairs: MessagePair[] = []
  let [left, right]: [MessageText[], MessageText[]] = [[], []]
  const flush = (): void => {
    const changed = alignLists(
      left.map(({ role }) => role),
      right.map(({ role }) => role),
    )
    for (const [i, j] of changed)
      pairs.push({
        a: i === undefined ? undefined : left[i],
        b: j === undefined ? undefined : right[j],
        isEqual: false,
      })
    ;[left, right] = [[], []]
  }
  for (const [i, j] of alignLists(a.map(keyOf), b.map(keyOf))) {
    const [one, other] = [i === undefined ? undefined : a[i], j === undefined ? undefined : b[j]]
    if (one !== undefined && other !== undefined) {
      flush()
      pairs.push({ a: one, b: other, isEqual: true })
    } else if (one !== undefined) left.push(one)
    else if (other !== undefined) right.push(other)
  }
  flush()
  return pairs
}
