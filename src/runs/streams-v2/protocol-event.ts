/** One event of protocol v2. */
export interface ProtocolEvent {
  /** Id of the log entry that it was converted from. */
  id: string
  run_id: string | null
  /** The same on every connection and after restarts, so that clients can drop duplicates (V-14). */
  event_id: string
  /** Number that increases over all runs of a thread (V-15). */
  seq: number
  method: string
  namespace: readonly string[]
  /** The name of custom data, if it has one. */
  name?: string
  /** Epoch milliseconds at which it happened (V-16). */
  timestamp: number
  node?: string
  /** JSON text. */
  data: string
  /** The result of `eventText`, once it was computed. */
  text?: string
}

/** Numbers reserved for the events of one log entry. */
const STEP = 1024

/** `seq` of the event number `k` of the log's entry at `position`. */
export function seqOf(position: number, k: number): number {
  return (position + 1) * STEP + Math.min(k, STEP - 1)
}

/** The highest `seq` that a log of `total` entries can have; 0 for an empty one (V-4). */
export function lastSeqOf(total: number): number {
  return total === 0 ? 0 : seqOf(total - 1, STEP - 1)
}

/** Position in the log of the entry that was converted to the event `seq`; -1 when `seq` is 0. */
export function positionOf(seq: number): number {
  return Math.floor(seq / STEP) - 1
}

/** Number of the event among those of its log entry. */
export function numberInEntry({ seq }: Pick<ProtocolEvent, 'seq'>): number {
  return seq % STEP
}

/** A place in the log, between the event number `k` of the entry `id` and the next event. */
export interface PlaceInLog {
  id: string
  k: number
}

const SSE_ID = /^(\d{1,15}-\d{1,15})(?:\.(\d{1,4}))?$/

/**
 * The id of an event in a stream of server-sent events. The first event of a log entry has the id of the entry. For
 * further events of the entry, the number of the event is appended.
 */
export function sseIdOf(event: Pick<ProtocolEvent, 'id' | 'seq'>): string {
  const k = numberInEntry(event)
  return k === 0 ? event.id : `${event.id}.${k}`
}

/** The place after the event with this SSE id; undefined if the text is not such an id. */
export function placeOfSseId(sse_id: string): PlaceInLog | undefined {
  const [, id, k = '0'] = SSE_ID.exec(sse_id) ?? []
  return id === undefined ? undefined : { id, k: Number(k) }
}

/** The JSON text of the event for clients; made once for all readers of the same event. */
export function eventText(event: ProtocolEvent): string {
  return (event.text ??= textOf(event))
}

/** Builds the text without JSON.stringify, which is slower: each token makes such a text (V-48). */
function textOf(event: ProtocolEvent): string {
  const { id, event_id, seq, method, timestamp, node, data, run_id } = event
  // Ids of the log need no escapes.
  const ids = event_id === id ? `"${id}"` : JSON.stringify(event_id)
  const run = run_id === null ? '' : `,"run_id":${JSON.stringify(run_id)}`
  const at = node === undefined ? '' : `,"node":${JSON.stringify(node)}`
  const place = `"namespace":${namespaceText(event)},"timestamp":${timestamp}`
  return `{"type":"event","event_id":${ids},"seq":${seq},"method":"${method}"${run},"params":{${place}${at},"data":${data}}}`
}

/** Texts of namespaces, which all events of a message share. */
const namespaceTexts = new WeakMap<readonly string[], string>()

function namespaceText({ namespace }: ProtocolEvent): string {
  if (namespace.length === 0) return '[]'
  const known = namespaceTexts.get(namespace)
  if (known !== undefined) return known
  const text = JSON.stringify(namespace)
  namespaceTexts.set(namespace, text)
  return text
}
