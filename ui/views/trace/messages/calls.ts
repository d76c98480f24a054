import type { Conversation } from '../../../data/messages/conversation.ts'
import type { Outline } from '../../../data/outline.ts'
import type { Tree } from '../../../data/tree.ts'

/** Positions of the model calls of a trace, in the order of their start. */
export function modelCalls(outline: Outline, { positions }: Tree): number[] {
  const places = outline.ids.flatMap((_, place) => (outline.types[place] === 'llm' ? [place] : []))
  return places
    .sort((a, b) => (outline.starts[a] ?? 0) - (outline.starts[b] ?? 0))
    .map((place) => positions[place] ?? 0)
}

/**
 * The place in `calls` of the model call that a run belongs to: the run itself, the first call below it, or the last call
 * that began before it. -1 without any.
 */
export function callOf(selected: number, calls: readonly number[], outline: Outline, tree: Tree): number {
  const own = calls.indexOf(selected)
  if (own >= 0) return own
  const end = tree.ends[selected] ?? 0
  const below = calls.findIndex((position) => position > selected && position < end)
  if (below >= 0) return below
  const startOf = (position: number): number => outline.starts[tree.order[position] ?? 0] ?? 0
  const before = calls.findLastIndex((position) => startOf(position) <= startOf(selected))
  return before >= 0 ? before : calls.length > 0 ? 0 : -1
}

function pathTo({ above }: Tree, position: number): number[] {
  const path: number[] = []
  for (let at = above[position] ?? -1; at >= 0; at = above[at] ?? -1) path.unshift(at)
  return path
}

/** The closest common ancestor of these runs; -1 for none. */
function commonRun(tree: Tree, positions: readonly number[]): number {
  let common: number[] | undefined
  for (const position of positions) {
    const path = pathTo(tree, position)
    common = common === undefined ? path : common.filter((one, place) => path[place] === one)
  }
  return common?.at(-1) ?? -1
}

export interface PlacedConversation extends Conversation {
  /** Names of its ancestors, from the root on. */
  path: string[]
  /** Positions of the calls of tools after each step, by the id of the step. */
  tools: ReadonlyMap<string, readonly number[]>
}

/**
 * Places conversations in the tree of their trace. A call of a tool belongs to the conversation in the closest run above
 * it, after the last model call that began before it.
 */
export function placeConversations(
  conversations: readonly Conversation[],
  outline: Outline,
  tree: Tree,
): PlacedConversation[] {
  const positionOf = new Map(outline.ids.map((id, place) => [id, tree.positions[place] ?? 0]))
  const startOf = (position: number): number => outline.starts[tree.order[position] ?? 0] ?? 0
  const placed = conversations.map((conversation) => {
    const steps = conversation.steps.map(({ id }) => positionOf.get(id) ?? 0)
    const run = commonRun(tree, steps)
    const names =
      run < 0 ? [] : [...pathTo(tree, run), run].map((at) => outline.names[tree.order[at] ?? 0] ?? '')
    return { conversation, steps, run, names, tools: new Map<string, number[]>() }
  })
  for (const [place, type] of outline.types.entries()) {
    if (type !== 'tool') continue
    const position = tree.positions[place] ?? 0
    const started = startOf(position)
    // Of several conversations in the same run, the one whose model call was the last before the tool.
    let holder: (typeof placed)[number] | undefined
    let id = ''
    let latest = -1
    for (const one of placed) {
      const { run, steps, conversation } = one
      if (run >= 0 && (run >= position || position >= (tree.ends[run] ?? 0))) continue
      const step = steps.findLastIndex((at) => startOf(at) <= started)
      const time = step < 0 ? -1 : startOf(steps[step] ?? 0)
      if (holder !== undefined && (run < holder.run || (run === holder.run && time <= latest))) continue
      holder = one
      id = conversation.steps[Math.max(0, step)]?.id ?? ''
      latest = time
    }
    if (holder !== undefined && id !== '') holder.tools.set(id, [...(holder.tools.get(id) ?? []), position])
  }
  return placed.map(({ conversation, names, tools }) => ({ ...conversation, path: names, tools }))
}

/** Says that the messages of a call follow this number of messages that stand above it. */
export function knownText(known: number): string {
  return known === 1 ? 'after the message above' : `after the ${known} messages above`
}
