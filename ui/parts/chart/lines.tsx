import css from './chart.module.css'
import { type Cursor, Frame, HEIGHT, WIDTH } from './frame.tsx'
import type { Tick } from './time-ticks.ts'
import { type Tone, topOf } from './scale.ts'

export interface Point {
  /** Height; all points have the same unit. */
  size: number
  /** Shown on hover. */
  title: string
  open?: (() => void) | undefined
}

/** A line over the places of a chart; it is broken where a place has no point. */
export interface Line {
  id: string
  series: Tone
  isDashed?: boolean
  points: readonly (Point | undefined)[]
}

/** A height that the lines should not cross. */
export interface ChartLimit {
  id: string
  size: number
  isFiring: boolean
}

/** Lines with a mark at each point. A table with the same numbers belongs below. */
export function Lines({
  label,
  lines,
  limits = [],
  places,
  axis,
  ticks,
  cursor,
}: {
  label: string
  lines: readonly Line[]
  limits?: readonly ChartLimit[]
  places: number
  axis(value: number): string
  ticks: readonly Tick[]
  cursor?: Cursor
}) {
  const sizes = lines.flatMap(({ points }) => points.flatMap((point) => point?.size ?? []))
  const top = topOf(Math.max(0, ...sizes, ...limits.map(({ size }) => size)))
  const x = (index: number): number => ((index + 0.5) * WIDTH) / Math.max(1, places)
  const y = (size: number): number => HEIGHT - (size / top) * HEIGHT
  return (
    <Frame {...{ label, top, axis, ticks, places, cursor }}>
      {limits.map(({ id, size, isFiring }) => (
        <line
          key={id}
          x1={0}
          x2={WIDTH}
          y1={y(size)}
          y2={y(size)}
          className={css['limit']}
          data-firing={isFiring}
        />
      ))}
      {lines.map(({ id, series, isDashed = false, points }) => (
        <g key={id} data-series={series} className={css['part']}>
          <path
            className={css['curve']}
            data-dashed={isDashed}
            d={points
              .map((point, at) =>
                point === undefined ? '' : `${points[at - 1] ? 'L' : 'M'}${x(at)} ${y(point.size)}`,
              )
              .join(' ')}
          />
          {points.map(
            (point, at) =>
              point !== undefined && (
                <path
                  key={x(at)}
                  className={point.open === undefined ? css['point'] : `${css['point']} ${css['open']}`}
                  d={`M${x(at)} ${y(point.size)}h0.01`}
                  onClick={point.open}
                >
                  <title>{point.title}</title>
                </path>
              ),
          )}
        </g>
      ))}
    </Frame>
  )
}
