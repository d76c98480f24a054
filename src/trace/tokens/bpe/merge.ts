import type { RankTable } from './ranks.ts'
import { NO_RANK, pairRankAt, rankOf } from './ranks.ts'

// Number of bytes up to which a plain scan for the lowest rank is faster than a heap.
const SCAN_BYTES = 48

/**
 * Counts the tokens of one piece: the bytes `0..length` of `bytes`, at least one. The result is the same as merging the
 * pair of lowest rank, leftmost first, until no pair is a token. Takes n log n time for any piece.
 */
export type PieceCounter = (bytes: Uint8Array, length: number) => number

/** Creates a counter for one rank table, which keeps 28 bytes of memory per byte of its longest piece. */
export function createPieceCounter(table: RankTable): PieceCounter {
  const countByScan = createScanCounter(table)
  const countByHeap = createHeapCounter(table)
  return (bytes, length) => {
    if (length === 1) return 1
    if (rankOf(table, bytes, 0, length) !== NO_RANK) return 1
    if (length === 2) return 2
    return length <= SCAN_BYTES ? countByScan(bytes, length) : countByHeap(bytes, length)
  }
}

// An array of the start offsets of all parts, each with the rank of its part joined to the next one.
function createScanCounter(table: RankTable): PieceCounter {
  const starts = new Int32Array(SCAN_BYTES + 2)
  const ranks = new Int32Array(SCAN_BYTES + 2)
  return (bytes, length) => {
    for (let i = 0; i < length - 1; i++) {
      starts[i] = i
      ranks[i] = pairRankAt(table, bytes, i)
    }
    starts[length - 1] = length - 1
    starts[length] = length
    ranks[length - 1] = NO_RANK
    let parts = length
    for (;;) {
      let lowest = NO_RANK
      let at = 0
      for (let i = 0; i < parts - 1; i++) {
        if ((ranks[i] as number) < lowest) {
          lowest = ranks[i] as number
          at = i
        }
      }
      if (lowest === NO_RANK) return parts
      for (let i = at + 1; i < parts; i++) {
        starts[i] = starts[i + 1] as number
        ranks[i] = ranks[i + 1] as number
      }
      parts--
      ranks[at] =
        at + 1 < parts ? rankOf(table, bytes, starts[at] as number, starts[at + 2] as number) : NO_RANK
      if (at > 0) ranks[at - 1] = rankOf(table, bytes, starts[at - 1] as number, starts[at + 1] as number)
    }
  }
}

interface Scratch {
  /** The start of the next part, at the index of the part's own start. */
  next: Int32Array
  /** The start of the previous part, at the index of the part's own start; -1 for the first part. */
  previous: Int32Array
  /**
   * The rank of a part joined to the next one, at the index of the part's start. NO_RANK if the two are not a token,
   * or the part is merged already.
   */
  ranks: Int32Array
  /** Binary heap of `rank * 2^32 + start`, so that the order is by rank, then leftmost. */
  heap: Float64Array
}

const RANK_UNIT = 2 ** 32

function createScratch(length: number): Scratch {
  return {
    next: new Int32Array(length),
    previous: new Int32Array(length),
    ranks: new Int32Array(length),
    // Each merge pops one entry and pushes two at most.
    heap: new Float64Array(2 * length),
  }
}

// Parts as a linked list over byte offsets; a heap entry whose rank no longer matches its part is stale.
function createHeapCounter(table: RankTable): PieceCounter {
  let scratch = createScratch(0)
  return (bytes, length) => {
    if (scratch.next.length < length) scratch = createScratch(Math.min(bytes.length, 2 * length))
    return mergeByHeap(table, bytes, length, scratch)
  }
}

function mergeByHeap(table: RankTable, bytes: Uint8Array, length: number, scratch: Scratch): number {
  const { next, previous, ranks, heap } = scratch
  let size = layOutParts(table, bytes, length, scratch)
  for (let i = (size >> 1) - 1; i >= 0; i--) siftDown(heap, size, i, heap[i] as number)
  let parts = length
  while (size > 0) {
    const top = heap[0] as number
    size--
    if (size > 0) siftDown(heap, size, 0, heap[size] as number)
    const at = top >>> 0
    if (ranks[at] !== (top - at) / RANK_UNIT) continue
    const merged = next[at] as number
    const after = next[merged] as number
    parts--
    next[at] = after
    ranks[merged] = NO_RANK
    if (after < length) previous[after] = at
    const joined = after < length ? rankOf(table, bytes, at, next[after] as number) : NO_RANK
    ranks[at] = joined
    if (joined !== NO_RANK) siftUp(heap, size++, joined * RANK_UNIT + at)
    const before = previous[at] as number
    if (before < 0) continue
    const joinedBefore = rankOf(table, bytes, before, after)
    ranks[before] = joinedBefore
    if (joinedBefore !== NO_RANK) siftUp(heap, size++, joinedBefore * RANK_UNIT + before)
  }
  return parts
}

function layOutParts(table: RankTable, bytes: Uint8Array, length: number, scratch: Scratch): number {
  const { next, previous, ranks, heap } = scratch
  let size = 0
  for (let i = 0; i < length; i++) {
    next[i] = i + 1
    previous[i] = i - 1
    const rank = i + 1 < length ? pairRankAt(table, bytes, i) : NO_RANK
    ranks[i] = rank
    if (rank !== NO_RANK) heap[size++] = rank * RANK_UNIT + i
  }
  return size
}

function siftDown(heap: Float64Array, size: number, from: number, entry: number): void {
  let at = from
  for (;;) {
    let child = 2 * at + 1
    if (child >= size) break
    if (child + 1 < size && (heap[child + 1] as number) < (heap[child] as number)) child++
    if ((heap[child] as number) >= entry) break
    heap[at] = heap[child] as number
    at = child
  }
  heap[at] = entry
}

function siftUp(heap: Float64Array, from: number, entry: number): void {
  let at = from
  while (at > 0) {
    const parent = (at - 1) >> 1
    if ((heap[parent] as number) <= entry) break
    heap[at] = heap[parent] as number
    at = parent
  }
  heap[at] = entry
}
