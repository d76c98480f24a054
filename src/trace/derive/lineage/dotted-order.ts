import { parseUuid } from '../../../base/ids.ts'
import { digits, formatTime, microsOf, parseTime } from '../time.ts'

/** One step of a dotted_order: start of the TraceRun (epoch microseconds) and its id. */
export interface DottedSegment {
  time: number
  id: string
}

/** The segments from the root down to the TraceRun itself, or the reason why the text is invalid. */
export type ParsedDottedOrder = { ok: true; segments: DottedSegment[] } | { ok: false; reason: string }

/** Length of `YYYYMMDDTHHMMSSffffffZ`. */
const TIME_LENGTH = 22

/**
 * Reads a dotted_order: segments joined by ".", each a start time `YYYYMMDDTHHMMSSffffffZ` and a uuid.
 * Lower-case letters and uuids of 32 hex digits without dashes are accepted as well; writing the segments back
 * (formatDottedOrder) gives the normal form.
 */
export function parseDottedOrder(text: string): ParsedDottedOrder {
  const segments: DottedSegment[] = []
  let from = 0
  while (from <= text.length) {
    const dot = text.indexOf('.', from)
    const to = dot < 0 ? text.length : dot
    const part = text.slice(from, to)
    const time = segmentTime(part)
    if (time === undefined) {
      return {
        ok: false,
        reason: `part ${segments.length + 1} does not start with a time like 20261120T085922841001Z`,
      }
    }
    const id = parseUuid(part.slice(TIME_LENGTH))
    if (id === undefined) return { ok: false, reason: `part ${segments.length + 1} does not end with a uuid` }
    segments.push({ time, id })
    from = to + 1
  }
  return { ok: true, segments }
}

function segmentTime(part: string): number | undefined {
  const [separator, zone] = [part.charCodeAt(8) | 32, part.charCodeAt(21) | 32]
  if (separator !== 0x74 || zone !== 0x7a) return undefined
  const date = digits(part, 0, 8)
  const clock = digits(part, 9, 15)
  const fraction = digits(part, 15, 21)
  if (Number.isNaN(date + clock + fraction)) return undefined
  return microsOf(
    Math.floor(date / 10_000),
    Math.floor(date / 100) % 100,
    date % 100,
    Math.floor(clock / 10_000),
    Math.floor(clock / 100) % 100,
    clock % 100,
    fraction,
  )
}

/**
 * One segment from `start` (epoch microseconds or ISO 8601) and `id` (a uuid with dashes). Throws RangeError if start
 * is not a time.
 */
export function dottedSegment(start: number | string, id: string): string {
  return dottedTime(start) + id
}

/** The part of a segment before the id. */
export function dottedTime(start: number | string): string {
  const micros = typeof start === 'number' ? start : parseTime(start)
  if (micros === undefined) throw new RangeError(`Not a time: ${start}`)
  const iso = formatTime(micros)
  const fraction = iso.slice(20, -1).padEnd(6, '0')
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}${fraction}Z`
}

/** Length of a segment in normal form, with the dot before the next one. */
const NORMAL_LENGTH = TIME_LENGTH + 36 + 1

/** The normal form of a dotted_order that was read to these segments: most texts have it already. */
export function normalDottedOrder(text: string, segments: readonly DottedSegment[]): string {
  const isNormal = text.length === segments.length * NORMAL_LENGTH - 1 && !/[tzA-F]/.test(text)
  return isNormal ? text : formatDottedOrder(segments)
}

/** Segments in the normal form of a dotted_order. */
export function formatDottedOrder(segments: readonly DottedSegment[]): string {
  return segments.map(({ time, id }) => dottedSegment(time, id)).join('.')
}

/** The dotted_order of a TraceRun from its start (epoch microseconds or ISO) and that of its parent, if it has one. */
export function deriveDottedOrder(traceRun: {
  parent_dotted_order?: string | undefined
  start_time: number | string
  id: string
}): string {
  const own = dottedSegment(traceRun.start_time, traceRun.id)
  return traceRun.parent_dotted_order ? `${traceRun.parent_dotted_order}.${own}` : own
}
