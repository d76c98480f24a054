import type { Message } from '../../api/messages.ts'
import { conversationsOf, type ModelCall } from './conversation.ts'

interface TurnPlace {
  trace_id: string
  start_time?: string
}

/** A turn, and its messages that the turns above it do not show; undefined if they are not known. */
export interface ShownTurn<T> {
  turn: T
  messages: readonly Message[] | undefined
}

/**
 * The turns of pages, each once. A trace whose start changed between the reads of two pages is on both: then the later
 * page is right.
 */
export function turnsOfPages<T extends TurnPlace>(pages: readonly { items: readonly T[] }[]): T[] {
  const turns = new Map<string, T>()
  for (const turn of pages.flatMap(({ items }) => items)) {
    turns.delete(turn.trace_id)
    turns.set(turn.trace_id, turn)
  }
  return [...turns.values()]
}

/** Turns that start at the same time are in the order of their ids, which says nothing; a later one has more history. */
function byHistory<T extends TurnPlace>(
  turns: readonly T[],
  calls: ReadonlyMap<string, ModelCall | null>,
): T[] {
  const places = new Map<string, number>()
  const placeOf = ({ start_time, trace_id }: T): number => places.get(start_time ?? trace_id) ?? 0
  const historyOf = ({ trace_id }: T): number => calls.get(trace_id)?.input.length ?? 0
  for (const [place, { start_time, trace_id }] of turns.entries()) {
    const start = start_time ?? trace_id
    if (!places.has(start)) places.set(start, place)
  }
  return turns.toSorted((a, b) => placeOf(a) - placeOf(b) || historyOf(a) - historyOf(b))
}

/** The instructions, and the messages from the last question on. */
function withoutHistory(messages: readonly Message[]): readonly Message[] {
  const question = messages.findLastIndex(({ role }) => role === 'user')
  return messages.filter(({ role }, place) => role === 'system' || place >= question)
}

/**
 * The turns as they are shown. `calls` has the model call of each turn that is read, by the id of its trace, and null
 * for a trace without one. The history of a turn belongs to the turns above it, also where the messages of the one above
 * are not known.
 */
export function turnsInOrder<T extends TurnPlace>(
  turns: readonly T[],
  calls: ReadonlyMap<string, ModelCall | null>,
): ShownTurn<T>[] {
  const ordered = byHistory(turns, calls)
  const read = ordered.flatMap(({ trace_id }) => calls.get(trace_id) ?? [])
  const steps = conversationsOf(read, { isByTurn: true }).flatMap((conversation) => conversation.steps)
  const fresh = new Map(steps.map(({ id, messages }) => [id, messages]))
  return ordered.map((turn, place) => {
    const messages = fresh.get(turn.trace_id)
    const above = ordered[place - 1]
    const isBelowUnknown = above !== undefined && !fresh.has(above.trace_id)
    return { turn, messages: messages && isBelowUnknown ? withoutHistory(messages) : messages }
  })
}
