import type { Client } from '@langchain/langgraph-sdk/client'

type Threads = Client['threads']
type HistoryOptions = NonNullable<Parameters<Threads['getHistory']>[1]>
type History = Awaited<ReturnType<Threads['getHistory']>>
type State = History[number]
/** `Threads['getHistory']`, which can also select parts of values. */
export type ReadHistory = (
  thread: string,
  options: Omit<HistoryOptions, 'select'> & { select: readonly string[] },
) => Promise<History>

/** The fields of a state that the hook reads besides its values. */
const FIELDS = ['checkpoint', 'parent_checkpoint', 'metadata', 'created_at', 'next', 'tasks', 'interrupts']

function idOf({ checkpoint }: State): string | null | undefined {
  return checkpoint.checkpoint_id
}

/** The states at the ends of branches: they are the parent of no other state. */
function endsOf(states: readonly State[]): State[] {
  const parents = new Set(states.map(({ parent_checkpoint }) => parent_checkpoint?.checkpoint_id))
  return states.filter((state) => !parents.has(idOf(state) ?? ''))
}

/**
 * Reads the history of a thread in place of the SDK's hook, but only the parts that are shown. States at the ends of
 * branches have their messages and UI components. Other states have only the ids of their messages, with which the hook
 * finds the state that added a message. Other values are not read.
 */
export async function readShownHistory(
  read: ReadHistory,
  thread: string,
  options: HistoryOptions = {},
): Promise<History> {
  const whole = { ...options, select: [...FIELDS, 'values.messages', 'values.ui'] }
  if (options.limit === 1) return await read(thread, whole)
  const states = await read(thread, { ...options, select: [...FIELDS, 'values.messages.id'] })
  const ends = await Promise.all(
    endsOf(states).map(async ({ checkpoint }) => await read(thread, { ...whole, limit: 1, checkpoint })),
  )
  const found = new Map(ends.flat().map((state) => [idOf(state), state]))
  return states.map((state) => found.get(idOf(state)) ?? state)
}
