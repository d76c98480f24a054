import {
  CONTENT_OFFSET,
  readFragment,
  readFragments,
  SIZED_COLUMNS,
  type StoredFragment,
} from '../../trace/rows/fragment.ts'
import { RowReader } from '../../trace/rows/row-binary.ts'
import type { Payloads } from './split-batch.ts'

/** The fragments of a batch that one lane derives: the rows of `payloads` at `rows`, or all. */
export interface BatchPart {
  lane: number
  payloads: Payloads
  /** Pairs: the index in `payloads`, and the offset in it; undefined for all rows. */
  rows: Uint32Array | undefined
  /** Number of the generation of routes: see LaneRoutes. */
  generation: number
}

/**
 * Divides batches over lanes. The fragments of a trace usually go to one lane, which then finds parents and children in
 * its own part. The fragments of a TraceRun go to one lane while that lane may have the TraceRun in its cache: a route
 * is remembered for this generation and the next one, and an older entry of the cache is not used.
 */
export interface LaneRoutes {
  /** The parts of a batch, at least one; no part is empty unless the batch is. */
  divide(payloads: Payloads): BatchPart[]
}

export interface LaneRoutesOptions {
  lanes: number
  /** Bytes of a batch for each lane that it uses, because every part costs statements and messages. */
  laneBytes?: number
  /** TraceRuns of one generation; a batch may add more. */
  remembered?: number
}

const LANE_BYTES = 4 << 20
const REMEMBERED = 32_768

export function createLaneRoutes({
  lanes,
  laneBytes = LANE_BYTES,
  remembered = REMEMBERED,
}: LaneRoutesOptions): LaneRoutes {
  if (lanes === 1) return { divide: (payloads) => [{ lane: 0, payloads, rows: undefined, generation: 0 }] }
  let generation = 0
  let routes = new Map<number, number>()
  let earlier = new Map<number, number>()

  /** The lane of a TraceRun. Its id may be shortened: TraceRuns that then look equal only share their lane. */
  function laneOf(run: number, rows: Buffer, at: number, used: number): number {
    const known = routes.get(run)
    if (known !== undefined) return known
    const lane = earlier.get(run) ?? traceHash(rows, at) % used
    routes.set(run, lane)
    return lane
  }

  return {
    divide(payloads) {
      if (routes.size >= remembered) {
        generation++
        earlier = routes
        routes = new Map()
      }
      const bytes = payloads.reduce((sum, payload) => sum + payload.length, 0)
      const used = Math.max(1, Math.min(lanes, Math.ceil(bytes / laneBytes)))
      const parts = Array.from({ length: lanes }, (): number[] => [])
      for (const [index, payload] of payloads.entries()) {
        const rows = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
        for (let at = 0; at < rows.length; at = endOfRow(rows, at))
          parts[laneOf(rows.readUIntLE(at + RUN_END, RUN_BYTES), rows, at, used)]!.push(index, at)
      }
      const filled = parts.flatMap((rows, lane) =>
        rows.length === 0 ? [] : [{ lane, payloads, rows: Uint32Array.from(rows), generation }],
      )
      return filled.length > 0 ? filled : [{ lane: 0, payloads, rows: undefined, generation }]
    },
  }
}

/** The fragments of a part, in their order. */
export function* fragmentsOfPart({
  payloads,
  rows,
}: Pick<BatchPart, 'payloads' | 'rows'>): Generator<StoredFragment> {
  if (rows === undefined) {
    for (const payload of payloads) yield* readFragments(payload)
    return
  }
  let reader = new RowReader(new Uint8Array(0))
  for (let i = 0, of = -1; i < rows.length; i += 2) {
    if (rows[i] !== of) {
      of = rows[i]!
      reader = new RowReader(payloads[of]!)
    }
    reader.at = rows[i + 1]!
    yield readFragment(reader)
  }
}

/** The rows of a part in memory of their own, unless they are all rows of the batch. */
export function payloadsOf(part: Pick<BatchPart, 'payloads' | 'rows'>): Payloads {
  if (part.rows === undefined) return part.payloads
  return [Buffer.concat(Array.from(fragmentsOfPart(part), ({ row }) => row))]
}

/** Where the last bytes of the TraceRun's id are in a row: the digits at the end of its text, which are random. */
const RUN_END = 24
const RUN_BYTES = 6

function endOfRow(rows: Buffer, from: number): number {
  let at = from + CONTENT_OFFSET
  for (let i = 0; i < SIZED_COLUMNS.length; i++) at = endOfBytes(rows, at)
  return at
}

/** The end of a String column that begins at `from`. */
function endOfBytes(rows: Buffer, from: number): number {
  let at = from
  let size = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = rows[at++]
    if (byte === undefined) throw new RangeError('RowBinary ends inside a String')
    size += (byte & 127) * scale
    if (byte < 128) return at + size
  }
}

/** Fields whose value contains the id of the trace, and where in the value: after the time of a dotted_order. */
const TRACE_FIELDS = [
  { name: '"trace_id"', idAt: 0 },
  { name: '"otel_trace_id"', idAt: 0 },
  { name: '"dotted_order"', idAt: 22 },
].map(({ name, idAt }) => ({ name: Buffer.from(name), idAt }))
/** Digits of an id that are hashed: the last ones of its text. */
const HASHED = { from: 28, to: 36 }
const QUOTE = 34

/**
 * A number that fragments of one trace usually share: made of the trace that the head names, else of the TraceRun's id,
 * as for a root. Only a hint, since the head is not parsed.
 */
function traceHash(rows: Buffer, at: number): number {
  const begin = at + CONTENT_OFFSET
  const head = rows.subarray(begin, endOfBytes(rows, begin))
  for (const { name, idAt } of TRACE_FIELDS) {
    const found = head.indexOf(name)
    if (found < 0) continue
    const id = head.indexOf(QUOTE, found + name.length) + 1 + idAt
    const hash = Number.parseInt(head.toString('latin1', id + HASHED.from, id + HASHED.to), 16)
    // What stands there may be any text of the client, such as a negative number.
    if (!Number.isNaN(hash)) return hash >>> 0
  }
  return rows.readUInt32LE(at + RUN_END)
}
