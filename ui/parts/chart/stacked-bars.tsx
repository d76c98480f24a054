import css from './chart.module.css'
import { type Cursor, Frame, HEIGHT, WIDTH } from './frame.tsx'
import type { Tick } from './time-ticks.ts'
import { type Tone, topOf } from './scale.ts'

export interface BarPart {
  id: string
  /** Index of its colour; the parts of one group have the same colour in all bars. */
  series: Tone
  /** Height; all parts have the same unit. */
  size: number
  /** Shown on hover. */
  title: string
  open?: (() => void) | undefined
}

/** One bar: its parts from below. */
export interface Bar {
  id: string
  parts: readonly BarPart[]
}

/** Width of a bar as a share of its slot, and the maximum width of a bar, in the units of WIDTH. */
const [FILL, WIDEST] = [0.76, 48]

/** Bars of stacked parts. Put a table with the same numbers below it, for users who cannot see it or have no pointer. */
export function StackedBars({
  label,
  bars,
  axis,
  ticks,
  cursor,
}: {
  label: string
  bars: readonly Bar[]
  /** The label of a height on the axis. */
  axis(value: number): string
  ticks: readonly Tick[]
  cursor?: Cursor
}) {
  const highest = Math.max(0, ...bars.map(({ parts }) => parts.reduce((sum, { size }) => sum + size, 0)))
  const top = topOf(highest)
  const place = WIDTH / Math.max(1, bars.length)
  const width = Math.min(place * FILL, WIDEST)
  return (
    <Frame {...{ label, top, axis, ticks, cursor }} places={bars.length}>
      {bars.map((bar, index) => {
        let y = HEIGHT
        return bar.parts.map(({ id, series, size, title, open }) => {
          const height = (size / top) * HEIGHT
          y -= height
          return (
            <rect
              key={`${bar.id} ${id}`}
              x={index * place + (place - width) / 2}
              {...{ y, width, height }}
              data-series={series}
              className={open === undefined ? css['part'] : `${css['part']} ${css['open']}`}
              onClick={open}
            >
              <title>{title}</title>
            </rect>
          )
        })
      })}
    </Frame>
  )
}

/** The colour of a series beside its name. */
export function Swatch({ series }: { series: Tone }) {
  return (
    <svg className={css['swatch']} viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" rx="2" data-series={series} className={css['part']} />
    </svg>
  )
}
