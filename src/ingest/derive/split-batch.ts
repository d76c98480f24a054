import { readFragments } from '../../trace/rows/fragment.ts'

/** Fragments of a batch as RowBinary rows, in any number of pieces. */
export type Payloads = readonly Uint8Array[]

/** Maximum bytes of rows in one insert; the engine needs several times as much memory. */
const INSERT_BYTES = 64 * 1024 * 1024

/**
 * Splits a batch into parts that are inserted one after the other, usually a single one. A part is larger than the
 * maximum only if it is a single row.
 */
export function insertParts(payloads: Payloads, maxBytes = INSERT_BYTES): Uint8Array[][] {
  const parts: Uint8Array[][] = [[]]
  let bytes = 0
  for (const piece of payloads.flatMap((payload) => cutRows(payload, maxBytes))) {
    if (bytes > 0 && bytes + piece.length > maxBytes) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)!.push(piece)
    bytes += piece.length
  }
  return parts
}

/** Rows split into pieces of at most `maxBytes`. */
function cutRows(payload: Uint8Array, maxBytes: number): Uint8Array[] {
  if (payload.length <= maxBytes) return [payload]
  const pieces: Uint8Array[] = []
  let from = 0
  let at = 0
  for (const { row } of readFragments(payload)) {
    if (at > from && at + row.length - from > maxBytes) {
      pieces.push(payload.subarray(from, at))
      from = at
    }
    at += row.length
  }
  return [...pieces, payload.subarray(from)]
}

/**
 * Splits the fragments of a batch into two batches, keeping those of each TraceRun together. Returns the key instead if
 * there is only one TraceRun.
 */
export function splitBatch(payloads: Payloads): { halves: [Payloads, Payloads] } | { only: string } {
  const rows = new Map<string, Uint8Array[]>()
  for (const payload of payloads) {
    for (const { key, row } of readFragments(payload)) {
      const known = rows.get(key)
      if (known) known.push(row)
      else rows.set(key, [row])
    }
  }
  const keys = [...rows.keys()]
  if (keys.length === 1) return { only: keys[0]! }
  const middle = Math.ceil(keys.length / 2)
  const batchOf = (some: string[]): Payloads => [Buffer.concat(some.flatMap((key) => rows.get(key)!))]
  return { halves: [batchOf(keys.slice(0, middle)), batchOf(keys.slice(middle))] }
}
