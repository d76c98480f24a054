import type { ProtocolItem } from '../../../runs/streams-v2/follow/follow-thread.ts'
import { eventText, sseIdOf } from '../../../runs/streams-v2/protocol-event.ts'
import { RecentMap } from '../../../base/recent-map.ts'
import type { Batch, Gap, StoredEvent } from '../../../events/event-log.ts'
import { wireName } from '../../../events/views.ts'

/** Encodes events as `text/event-stream`, in pieces to send in order. */
export type Encoder = (batch: Batch) => Uint8Array[]

/** Maximum bytes of each of two caches of small frames. Several readers of the same events use them. */
const KEPT_BYTES = 2 << 20
/**
 * Frames above this size are separate pieces. All readers share the bytes of such a frame until the last reader has
 * received them.
 */
const LARGE_BYTES = 64 << 10

const LINE_ENDS = /[\r\n]+/g

/** One frame. Event names come from user code; their line breaks are removed, because they could forge SSE fields. */
function frameText(event: string, data: string, id: string): string {
  return `event: ${event.replace(LINE_ENDS, ' ')}\ndata: ${data}\nid: ${id}\n\n`
}

/** The frame of a gap. It has no id, because a gap is not an event and must not change the client's last event id. */
function gapText({ gap }: Gap): string {
  return `event: gap\ndata: ${JSON.stringify(gap)}\n\n`
}

/** An encoder for all streams of a deployment: an event with several readers at the same time is formatted once. */
export function createSharedEncoder(keptBytes = KEPT_BYTES): Encoder {
  const large = new WeakMap<StoredEvent, WeakRef<Uint8Array>>()
  let fresh = new Map<StoredEvent, Uint8Array>()
  let older = fresh
  let freshBytes = 0

  function keep(item: StoredEvent, bytes: Uint8Array): void {
    if (freshBytes + bytes.length > keptBytes) {
      older = fresh
      fresh = new Map()
      freshBytes = 0
    }
    freshBytes += bytes.length
    fresh.set(item, bytes)
  }

  function frame(item: StoredEvent | Gap): Uint8Array {
    if ('gap' in item) return Buffer.from(gapText(item))
    const known = fresh.get(item) ?? older.get(item) ?? large.get(item)?.deref()
    if (known !== undefined) return known
    const bytes = Buffer.from(frameText(wireName(item), item.data, item.id))
    if (bytes.length > LARGE_BYTES) large.set(item, new WeakRef(bytes))
    else keep(item, bytes)
    return bytes
  }

  return (batch) => inPieces(batch.map(frame))
}

/** One piece for each large frame; small frames are joined. */
function inPieces(frames: readonly Uint8Array[]): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let small: Uint8Array[] = []
  const join = (): void => {
    const [only] = small
    if (only !== undefined) pieces.push(small.length === 1 ? only : Buffer.concat(small))
    small = []
  }
  for (const frame of frames) {
    if (frame.length <= LARGE_BYTES) small.push(frame)
    else {
      join()
      pieces.push(frame)
    }
  }
  join()
  return pieces
}

/** Number of message metadata texts that one connection keeps. */
const MAX_TAILS = 16

/**
 * An encoder for one connection that has requested `Prefer: messages=compact`: metadata in `messages` events are sent
 * once, and after that as a number: `[chunk, 3]` has the metadata of the fourth frame with metadata on this connection.
 * A connection that resumes another one begins to count again, so it receives all metadata.
 */
export function createCompactEncoder(): Encoder {
  /** Numbers of metadata by the end `,{…}]` of the data that contains them, in order of last use. */
  const tails = new RecentMap<string, number>(MAX_TAILS)
  let count = 0

  function compact(data: string): string {
    for (const [tail, number] of [...tails].reverse()) {
      if (!data.endsWith(tail)) continue
      tails.touch(tail)
      return `${data.slice(0, -tail.length)},${number}]`
    }
    const tail = data.slice(endOfFirst(data))
    if (tail === '') return data
    tails.set(tail, count++)
    return data
  }

  function text(item: StoredEvent | Gap): string {
    if ('gap' in item) return gapText(item)
    const { event, data, id } = item
    const isMessage = event === 'messages' || event.startsWith('messages|')
    return frameText(wireName(item), isMessage ? compact(data) : data, id)
  }

  return (batch) => [Buffer.from(batch.map(text).join(''))]
}

/** Position of the end of the first element of an array; the JSON text begins with `[`. */
function endOfFirst(json: string): number {
  let depth = 0
  for (let at = 1; at < json.length; at++) {
    const char = json[at]
    if (char === '"') at = endOfString(json, at)
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ',' && depth === 0) return at
  }
  return json.length
}

function endOfString(json: string, start: number): number {
  let at = json.indexOf('"', start + 1)
  while (at > 0 && isEscaped(json, at)) at = json.indexOf('"', at + 1)
  return at < 0 ? json.length : at
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0
  while (json[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

/** Events of protocol v2 as `text/event-stream`; a gap has no id, because it is not an event. */
export function protocolFrames(items: readonly ProtocolItem[]): Uint8Array[] {
  return [Buffer.from(items.map(protocolFrame).join(''))]
}

function protocolFrame(item: ProtocolItem): string {
  if ('oldest' in item) return `event: gap\ndata: ${JSON.stringify(item)}\n\n`
  return `id: ${sseIdOf(item)}\nevent: ${item.method}\ndata: ${eventText(item)}\n\n`
}
