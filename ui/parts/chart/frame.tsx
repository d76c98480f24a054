import { type KeyboardEvent, type MouseEvent, type PointerEvent, type ReactNode, useRef } from 'react'
import css from './chart.module.css'

/** Size of a picture in its own units; it is stretched to its place. */
export const [WIDTH, HEIGHT] = [1000, 200]

/** A place on the time axis that is looked at; several charts may share it. */
export interface Cursor {
  at: number | undefined
  move(at: number | undefined): void
  /** Opens what is at a place. */
  open(at: number): void
  /** Called when places were selected by dragging, both included. */
  select(first: number, last: number): void
}

/** Axes of a picture, and the cursor over its places. */
export function Frame({
  label,
  top,
  axis,
  ends,
  places,
  cursor,
  children,
}: {
  label: string
  /** Height of the highest line. */
  top: number
  /** Writes a height at the axis. */
  axis(value: number): string
  /** Texts at both ends of the time axis. */
  ends: readonly [string, string]
  /** Number of places on the time axis. */
  places: number
  cursor?: Cursor | undefined
  children: ReactNode
}) {
  const place = WIDTH / Math.max(1, places)
  return (
    <figure
      className={css['chart']}
      role={cursor === undefined ? 'img' : 'group'}
      aria-label={label}
      tabIndex={cursor === undefined ? undefined : 0}
      onKeyDown={cursor && ((event) => moveByKey(event, cursor, places))}
    >
      <div className={css['axis']} aria-hidden="true">
        <span>{axis(top)}</span>
        <span>{axis(top / 2)}</span>
        <span>{axis(0)}</span>
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={css['picture']}
        aria-hidden="true"
      >
        {cursor?.at !== undefined && (
          <rect x={cursor.at * place} y={0} width={place} height={HEIGHT} className={css['cursor']} />
        )}
        {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
          <line key={y} x1={0} x2={WIDTH} y1={y} y2={y} className={css['line']} />
        ))}
        {cursor !== undefined && <Places cursor={cursor} places={places} />}
        {children}
      </svg>
      <div className={css['ends']} aria-hidden="true">
        <span>{ends[0]}</span>
        <span>{ends[1]}</span>
      </div>
    </figure>
  )
}

function moveByKey(event: KeyboardEvent, { at, move, open }: Cursor, places: number): void {
  const last = places - 1
  const to: Partial<Record<string, number | undefined>> = {
    ArrowLeft: Math.max(0, (at ?? places) - 1),
    ArrowRight: Math.min(last, (at ?? -1) + 1),
    Home: 0,
    End: last,
    Escape: undefined,
  }
  if (event.key === 'Enter' && at !== undefined) open(at)
  else if (event.key in to) move(to[event.key])
  else return
  event.preventDefault()
}

/** The ground below the marks: a click opens a place, dragging selects several. */
function Places({ cursor, places }: { cursor: Cursor; places: number }) {
  const start = useRef<number>(undefined)
  const placeAt = ({ clientX, currentTarget }: MouseEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(places - 1, Math.floor(((clientX - left) / width) * places)))
  }
  const release = (event: PointerEvent): void => {
    const [first, last] = [start.current, placeAt(event)]
    start.current = undefined
    if (first === undefined) return
    if (first === last) cursor.open(first)
    else cursor.select(Math.min(first, last), Math.max(first, last))
  }
  return (
    <rect
      width={WIDTH}
      height={HEIGHT}
      className={css['places']}
      onPointerDown={(event) => {
        start.current = placeAt(event)
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={(event) => cursor.move(placeAt(event))}
      onPointerUp={release}
      onPointerCancel={() => (start.current = undefined)}
      onPointerLeave={() => cursor.move(undefined)}
    />
  )
}
