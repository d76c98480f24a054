import type { Batch, Gap, StoredEvent } from '../../../events/event-log.ts'
import { wireName } from '../../../events/views.ts'

/** Events as bytes of `text/event-stream`, in pieces to be sent one after the other. */
export type Encoder = (batch: Batch) => Uint8Array[]

/** Small frames that are kept for readers of the same events: these many bytes, and as many again. */
const KEPT_BYTES = 2 << 20
/** Larger frames are pieces of their own, and the same bytes for everyone as long as somebody has not taken them. */
const LARGE_BYTES = 64 << 10

const LINE_ENDS = /[\r\n]+/g

/** One frame (run-api 1.9). What a graph is made of has a say in names, never in what a frame is. */
function frameText(event: string, data: string, id: string): string {
  return `event: ${event.replace(LINE_ENDS, ' ')}\ndata: ${data}\nid: ${id}\n\n`
}

/** Without an id: it is no event, and its client is still where it was. */
function gapText({ gap }: Gap): string {
  return `event: gap\ndata: ${JSON.stringify(gap)}\n\n`
}

/** An encoder for all streams of a deployment: an event that many read at the same time is formatted once. */
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

/** Large frames as they are, small ones together. */
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

/** How many metadata of messages that stream at the same time one connection remembers. */
const MAX_TAILS = 16

/**
 * An encoder for one connection that has asked for `Prefer: messages=compact`: what `messages` events tell of a message
 * besides its text comes once and then as a number: `[chunk, 3]` has the metadata of the fourth frame on this connection
 * that had any. A connection that goes on where another was cut begins to count anew, so that nothing is missing there.
 */
export function createCompactEncoder(): Encoder {
  /** `,{…}]` with which data end that carry these metadata, and their number; the last used last. */
  const tails = new Map<string, number>()
  let count = 0

  function compact(data: string): string {
    for (const [tail, number] of [...tails].reverse()) {
      if (!data.endsWith(tail)) continue
      tails.delete(tail)
      tails.set(tail, number)
      return `${data.slice(0, -tail.length)},${number}]`
    }
    const tail = data.slice(endOfFirst(data))
    if (tail === '') return data
    const [oldest] = tails.keys()
    if (tails.size >= MAX_TAILS && oldest !== undefined) tails.delete(oldest)
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

/** Where the first element of an array ends, as JSON text that begins with `[`. */
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
