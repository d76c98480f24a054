// Messages between Studio and the page in a frame that shows a UI component of a deployment. Each is one JSON text: the
// receiver knows its size before it is parsed.

/** Maximum characters of a message of a frame. */
const MOST_CHARACTERS = 64 << 10
const MOST_FAULT_CHARACTERS = 500

/** What Studio sends, first when the frame is ready and again after each change. */
export interface ToFrame {
  name: string
  props: Readonly<Record<string, unknown>>
  /** `metadata` of the message by which the graph sent the component. */
  meta: unknown
  isLoading: boolean
  /** Values of the thread; absent while a run is active and when they are too large. */
  values?: Readonly<Record<string, unknown>> | undefined
}

/** A run that a component asks for. `resume` answers the interrupt of the thread. */
export interface AskedRun {
  input: Record<string, unknown> | null
  resume?: unknown
}

export type FromFrame =
  | { type: 'ready' }
  | { type: 'height'; pixels: number }
  | { type: 'failed'; message: string }
  | ({ type: 'ask' } & AskedRun)

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A message of Studio; undefined for anything else. */
export function readToFrame(data: unknown): ToFrame | undefined {
  const sent = typeof data === 'string' ? parse(data) : undefined
  return isRecord(sent) && typeof sent['name'] === 'string' && isRecord(sent['props'])
    ? (sent as unknown as ToFrame)
    : undefined
}

/** A message of a frame, whose code may be hostile; undefined for anything else. */
export function readFromFrame(data: unknown): FromFrame | undefined {
  if (typeof data !== 'string' || data.length > MOST_CHARACTERS) return undefined
  const sent = parse(data)
  if (!isRecord(sent)) return undefined
  const { type, pixels, message, input, resume } = sent
  if (type === 'ready') return { type }
  if (type === 'height' && Number.isFinite(pixels)) return { type, pixels: pixels as number }
  if (type === 'failed' && typeof message === 'string')
    return { type, message: message.slice(0, MOST_FAULT_CHARACTERS) }
  if (type === 'ask' && (input === null || isRecord(input)))
    return { type, input, ...(resume !== undefined && { resume }) }
  return undefined
}
