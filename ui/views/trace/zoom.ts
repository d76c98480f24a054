import { topOf } from '../../parts/chart/scale.ts'
import { durationText } from '../../parts/format/numbers.ts'

/** The part of a trace's time that is drawn, in microseconds from the beginning of the trace. */
export interface ZoomRange {
  from: number
  to: number
}

const STEP = 1.6
const LEAST_MICROS = 10

function clamped({ from, to }: ZoomRange, span: number): ZoomRange {
  const width = Math.min(Math.max(to - from, LEAST_MICROS), Math.max(span, LEAST_MICROS))
  const start = Math.max(0, Math.min(from, span - width))
  return { from: start, to: start + width }
}

/** The range around its middle, larger (`out`) or smaller. */
export function zoomed(range: ZoomRange, direction: 'in' | 'out', span: number): ZoomRange {
  const factor = direction === 'in' ? 1 / STEP : STEP
  const middle = (range.from + range.to) / 2
  const half = ((range.to - range.from) * factor) / 2
  return clamped({ from: middle - half, to: middle + half }, span)
}

/** The range between two shares (0 to 1) of the whole span, in either order; the whole for a click. */
export function dragged(a: number, b: number, span: number): ZoomRange {
  const [from, to] = [Math.min(a, b), Math.max(a, b)]
  if (to - from < 0.005) return { from: 0, to: span }
  return clamped({ from: from * span, to: to * span }, span)
}

/** Left edge and width of a bar in shares of the range, cut at its edges; undefined outside of it. */
export function barOf(
  start: number,
  end: number,
  { from, to }: ZoomRange,
): { left: number; width: number } | undefined {
  if (end < from || start > to) return undefined
  const width = to - from
  const left = Math.max(start, from)
  return { left: (left - from) / width, width: (Math.min(end, to) - left) / width }
}

/** The approximate number of steps into which the range is divided. */
const STEPS = 4
/** A time closer to the right edge than this share has no room for its text. */
const LAST_SHARE = 0.9

const SECOND = 1_000_000
/** Steps of an axis of a minute or more, in seconds, up to a day. */
const LONG_STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

/** The distance of two ticks at least `micros` apart: a round number, of seconds, minutes or hours where it is long. */
function stepOf(micros: number): number {
  if (micros <= 10 * SECOND) return topOf(micros)
  const day = LONG_STEPS.at(-1) ?? 0
  const seconds = LONG_STEPS.find((step) => step * SECOND >= micros)
  return (seconds ?? day * topOf(micros / SECOND / day)) * SECOND
}

/** Round times in a range, in microseconds from the beginning of the trace. */
export function ticksOf({ from, to }: ZoomRange): number[] {
  const step = stepOf((to - from) / STEPS)
  const first = Math.ceil(from / step)
  const count = Math.floor((from + (to - from) * LAST_SHARE) / step) - first + 1
  return Array.from({ length: Math.max(0, count) }, (_, place) => (first + place) * step)
}

/** The text of a tick; `5 m`, not `5 m 0 s`. */
export function tickText(micros: number): string {
  return micros === 0 ? '0' : durationText(micros).replace(/ 0 [ms]$/, '')
}
