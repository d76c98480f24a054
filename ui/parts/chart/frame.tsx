import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type SVGAttributes,
  useRef,
  useState,
} from 'react'
import css from './chart.module.css'
import { isCrowded, type Tick } from './time-ticks.ts'

/** Size of a picture in its own units; it is stretched to its place. */
export const [WIDTH, HEIGHT] = [1000, 200]

/** The place of the cursor on the time axis; several charts may share it. */
export interface Cursor {
  at: number | undefined
  move(at: number | undefined): void
  /** Opens the item at an index. */
  open(at: number): void
  /** Called when places were selected by dragging or by keyboard, both included. */
  select(first: number, last: number): void
}

/** Places that are being selected: where the selection began, and where it is now. */
interface Brush {
  from: number
  to: number
}

const firstOf = ({ from, to }: Brush): number => Math.min(from, to)
const lastOf = ({ from, to }: Brush): number => Math.max(from, to)

/** The coloured background of the places from one to another, both included; nothing without a selection. */
function Shade({
  look,
  from,
  to,
  places,
}: {
  look: 'cursor' | 'brush'
  from: number | undefined
  to: number | undefined
  places: number
}) {
  if (from === undefined || to === undefined) return null
  const place = WIDTH / Math.max(1, places)
  const [x, width] = [Math.min(from, to) * place, (Math.abs(to - from) + 1) * place]
  return <rect x={x} width={width} height={HEIGHT} className={css[look]} />
}

interface Selecting {
  cursor: Cursor | undefined
  places: number
  brush: Brush | undefined
  setBrush(brush: Brush | undefined): void
}

/** The marks of a chart over its background: a click beside the marks opens a place, dragging selects several. */
function Picture({ children, ...selecting }: Selecting & { children: ReactNode }) {
  const { cursor, places, brush } = selecting
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={css['picture']}
      aria-hidden="true"
      {...useDragging(selecting)}
    >
      <Shade look="cursor" from={cursor?.at} to={cursor?.at} places={places} />
      <Shade look="brush" from={brush?.from} to={brush?.to} places={places} />
      {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
        <line key={y} x1={0} x2={WIDTH} y1={y} y2={y} className={css['line']} />
      ))}
      {cursor !== undefined && (
        <rect
          width={WIDTH}
          height={HEIGHT}
          className={css['places']}
          onClick={(event) => cursor.open(placeAt(event, places))}
        />
      )}
      {children}
    </svg>
  )
}

/** Axes of a picture, and the cursor over its places. */
export function Frame({
  label,
  top,
  axis,
  ticks,
  places,
  cursor,
  children,
}: {
  label: string
  /** Height of the highest line. */
  top: number
  /** The label of a height on the axis. */
  axis(value: number): string
  ticks: readonly Tick[]
  /** Number of places on the time axis. */
  places: number
  cursor?: Cursor | undefined
  children: ReactNode
}) {
  const [brush, setBrush] = useState<Brush>()
  return (
    <figure
      className={css['chart']}
      role={cursor === undefined ? 'img' : 'group'}
      aria-label={label}
      tabIndex={cursor === undefined ? undefined : 0}
      onKeyDown={(event) => onKey(event, { cursor, places, brush, setBrush })}
      onBlur={() => setBrush(undefined)}
    >
      <div className={css['axis']} aria-hidden="true">
        <span>{axis(top)}</span>
        <span>{axis(top / 2)}</span>
        <span>{axis(0)}</span>
      </div>
      <Picture {...{ cursor, places, brush, setBrush }}>{children}</Picture>
      <div className={css['ends']} data-crowded={isCrowded(ticks)} aria-hidden="true">
        {ticks.map(({ at, text }) => (
          <span key={at} style={{ insetInlineStart: `${(at * 100) / Math.max(1, places)}%` }}>
            {text}
          </span>
        ))}
      </div>
    </figure>
  )
}

/** Arrows move the cursor; with Shift they select places, and Enter confirms the selection. */
function onKey(event: KeyboardEvent, { cursor, places, brush, setBrush }: Selecting): void {
  if (cursor === undefined) return
  const { at, move, open, select } = cursor
  const last = places - 1
  const to: Partial<Record<string, number | undefined>> = {
    ArrowLeft: Math.max(0, (at ?? places) - 1),
    ArrowRight: Math.min(last, (at ?? -1) + 1),
    Home: 0,
    End: last,
    Escape: undefined,
  }
  const next = to[event.key]
  if (event.key === 'Enter' && brush !== undefined) select(firstOf(brush), lastOf(brush))
  else if (event.key === 'Enter' && at !== undefined) open(at)
  else if (event.key in to) move(next)
  else return
  const isSelecting = event.shiftKey && next !== undefined
  setBrush(isSelecting ? { from: brush?.from ?? at ?? next, to: next } : undefined)
  event.preventDefault()
}

/**
 * The handlers of a picture whose places can be selected by dragging, also when the drag begins on a mark. The picture
 * captures the pointer when the drag leaves its first place, so a press without a drag stays a click on what is below.
 */
function useDragging({ cursor, places, brush, setBrush }: Selecting): SVGAttributes<SVGSVGElement> {
  const hasDragged = useRef(false)
  if (cursor === undefined) return {}
  return {
    onPointerDown: (event) => {
      hasDragged.current = false
      const at = placeAt(event, places)
      if (event.isPrimary && event.button === 0) setBrush({ from: at, to: at })
    },
    onPointerMove: (event) => {
      const at = placeAt(event, places)
      cursor.move(at)
      if (brush === undefined || event.buttons === 0 || at === brush.to) return
      event.currentTarget.setPointerCapture(event.pointerId)
      hasDragged.current = true
      setBrush({ from: brush.from, to: at })
    },
    onPointerUp: (event) => {
      setBrush(undefined)
      if (brush === undefined || !hasDragged.current) return
      const taken = { from: brush.from, to: placeAt(event, places) }
      if (taken.from !== taken.to) cursor.select(firstOf(taken), lastOf(taken))
    },
    onPointerCancel: () => setBrush(undefined),
    onPointerLeave: () => cursor.move(undefined),
    onClickCapture: (event) => {
      if (hasDragged.current) event.stopPropagation()
    },
  }
}

function placeAt({ clientX, currentTarget }: MouseEvent<SVGElement>, places: number): number {
  const { left, width } = currentTarget.getBoundingClientRect()
  return Math.max(0, Math.min(places - 1, Math.floor(((clientX - left) / width) * places)))
}
