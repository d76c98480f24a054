import type { Block, Message } from '../../api/messages.ts'

export interface ModelCall {
  id: string
  input: readonly Message[]
  output: readonly Message[]
}

/** A model call in a conversation. */
export interface ConversationStep {
  id: string
  /** Messages that the calls before it did not have. */
  messages: readonly Message[]
  /** Number of messages that the calls before it had already. */
  known: number
}

/** Model calls of one conversation: each begins with the messages of the previous one. */
export interface Conversation {
  steps: ConversationStep[]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function mark(block: Block): string {
  if (block.type === 'text') return textOf(block['text'])
  if (block.type === 'tool_call') return `${textOf(block['name'])}(${JSON.stringify(block['args'])})`
  return block.type === 'reasoning' ? '' : block.type
}

/** The part of a message that is equal when it is sent again: clients omit reasoning and empty blocks. */
function signature({ role, content }: Message): string {
  return `${role}\n${content.map(mark).filter(Boolean).join('\n')}`
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1
  return length
}

interface Open {
  conversation: Conversation
  signatures: readonly string[]
}

/**
 * The conversation that a call continues: the one that shares the longest beginning with the call. A common beginning
 * that has only instructions does not count.
 */
function findOpen(open: readonly Open[], input: readonly Message[], signatures: readonly string[]) {
  let best: { place: number; known: number } | undefined
  for (const [place, { signatures: before }] of open.entries()) {
    const known = commonLength(before, signatures)
    const isMore = input.slice(0, known).some(({ role }) => role !== 'system')
    if (isMore && known > (best?.known ?? 0)) best = { place, known }
  }
  return best
}

/**
 * Messages at the beginning of a turn that are shown above it. A repeated question belongs to the new turn, unless the
 * turn continues from all earlier messages.
 */
function knownInTurn(known: number, input: readonly Message[], before: Open | undefined): number {
  if (before === undefined || known === before.signatures.length) return known
  const question = input.findLastIndex(({ role }) => role === 'user')
  return question < 0 ? known : Math.min(known, question)
}

/**
 * The messages of `input` from place `from` on, without those before its question that the earlier turns have shown,
 * wherever they stand: most clients do not send the calls of tools and their results again, but the answer after them.
 */
function unseen(input: readonly Message[], from: number, before: Open | undefined): readonly Message[] {
  const question = input.findLastIndex(({ role }) => role === 'user')
  let seen = from
  return input.slice(from).filter((message, place) => {
    if (before === undefined || from + place >= question) return true
    const found = before.signatures.indexOf(signature(message), seen)
    if (found >= 0) seen = found + 1
    return found < 0
  })
}

/**
 * Groups model calls, in the order of their start, into conversations. The result is in the order of their first calls.
 * With `isByTurn`, each call is the last one of a turn, and the question of the turn is among its messages.
 */
export function conversationsOf(calls: readonly ModelCall[], { isByTurn = false } = {}): Conversation[] {
  const open: Open[] = []
  for (const { id, input, output } of calls) {
    const signatures = input.map(signature)
    const found = findOpen(open, input, signatures)
    const same = found?.known ?? 0
    const earlier = open[found?.place ?? -1]
    const known = isByTurn ? knownInTurn(same, input, earlier) : same
    const fresh = isByTurn ? unseen(input, known, earlier) : input.slice(known)
    const step = { id, messages: [...fresh, ...output], known: input.length - fresh.length }
    const all = [...signatures, ...output.map(signature)]
    if (found === undefined || earlier === undefined)
      open.push({ conversation: { steps: [step] }, signatures: all })
    else {
      earlier.conversation.steps.push(step)
      open[found.place] = { ...earlier, signatures: all }
    }
  }
  return open.map(({ conversation }) => conversation)
}

/**
 * Number of messages at the beginning of an input that the previous call already had as input or output; 0 if these are
 * only instructions. Where a new message is the result of an earlier tool call, both messages count as new.
 */
export function repeatedMessages(before: Omit<ModelCall, 'id'>, input: readonly Message[]): number {
  const earlier = [...before.input, ...before.output].map(signature)
  const known = commonLength(earlier, input.map(signature))
  if (!input.slice(0, known).some(({ role }) => role !== 'system')) return 0
  const answered = new Set(input.slice(known).flatMap(({ tool_call_id }) => tool_call_id ?? []))
  const call = input
    .slice(0, known)
    .findIndex(({ content }) => content.some((block) => answered.has(textOf(block['id']))))
  return call < 0 ? known : call
}
