import type { TaskEvent } from '../node-states.ts'

/** An event of a stream of a deployment. */
export interface SentEvent {
  /** `<ms>-<seq>`; `ms` is the time at which the server wrote the event. */
  id?: string | undefined
  event: string
  data: unknown
}

/** The part of an event that a replay shows. */
export type ShownEvent =
  | { kind: 'task'; task: TaskEvent; namespace: string[] }
  /** `message`: id of the message to which the text belongs. */
  | { kind: 'text'; message: string; text: string }
  | { kind: 'custom'; value: unknown }

/** A shown event, and the milliseconds from the first shown event of the run to this one. */
export interface Moment {
  ms: number
  shown: ShownEvent
}

/** The kept events of a run. */
interface RunMoments {
  moments: readonly Moment[]
  /** Epoch milliseconds of the first shown event; 0 if there is none. */
  startedAt: number
  /** False if events were deleted, or left out because there are too many. */
  isWhole: boolean
}

/** Maximum numbers of events and characters of a replay. */
const MOST_EVENTS = 20_000
const MOST_CHARS = 4_000_000

/** The fields that determine the state of a node; inputs and results are left out, because they may be large. */
function taskOf(data: Readonly<Record<string, unknown>>): TaskEvent {
  const { id, name, error, interrupts } = data
  return {
    id: String(id),
    name: String(name),
    ...('triggers' in data && { triggers: [] }),
    ...('result' in data && { result: null }),
    ...('error' in data && { error }),
    ...(Array.isArray(interrupts) && { interrupts }),
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as { text?: unknown }[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

function shownOf({ event, data }: SentEvent): ShownEvent | undefined {
  const [mode, ...namespace] = event.split('|')
  if (mode === 'custom') return { kind: 'custom', value: data }
  if (mode === 'tasks') return { kind: 'task', task: taskOf(data as Record<string, unknown>), namespace }
  if (mode !== 'messages' || !Array.isArray(data)) return undefined
  const { id, content } = (data[0] ?? {}) as { id?: unknown; content?: unknown }
  const text = textOf(content)
  return text === '' ? undefined : { kind: 'text', message: String(id), text }
}

function sizeOf(shown: ShownEvent): number {
  return shown.kind === 'text' ? shown.text.length : JSON.stringify(shown).length
}

export async function readMoments(sent: AsyncIterable<SentEvent>): Promise<RunMoments> {
  const moments: Moment[] = []
  let startedAt: number | undefined
  let isWhole = true
  let chars = 0
  let isFirst = true
  for await (const event of sent) {
    // The first event of a run is `metadata`; without it, the beginning was deleted.
    if (event.event === 'gap' || (isFirst && event.event !== 'metadata')) isWhole = false
    isFirst = false
    const written = Number.parseInt(event.id ?? '', 10)
    const shown = shownOf(event)
    if (shown === undefined || Number.isNaN(written)) continue
    startedAt ??= written
    chars += sizeOf(shown)
    if (moments.length === MOST_EVENTS || chars > MOST_CHARS) {
      isWhole = false
      break
    }
    moments.push({ ms: written - startedAt, shown })
  }
  return { moments, startedAt: startedAt ?? 0, isWhole }
}
