import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { type KeptText, readKept, writeKept } from '../preferences.ts'
import css from './splitter.module.css'

/** Bounds of a share, and what an arrow key changes, in percent. */
const [LEAST, MOST, STEP] = [15, 85, 2]

/** The share in percent that a text has; `usual` for any other text. */
function shareOf(text: string, usual: number): number {
  const share = Number.parseFloat(text)
  return share >= LEAST && share <= MOST ? share : usual
}

/** The share in percent that the first of two neighbours has. It stays in this browser; undefined sets the usual one. */
export function useKeptShare(name: KeptText, usual: number) {
  const [share, setShare] = useState(() => shareOf(readKept(name), usual))
  const change = (wanted: number | undefined): void => {
    const next = wanted === undefined ? usual : Math.round(Math.min(MOST, Math.max(LEAST, wanted)) * 10) / 10
    setShare(next)
    writeKept(name, next === usual ? '' : String(next))
  }
  return { share, change }
}

/** The place that the two neighbours share: its left edge and its width in pixels. */
interface Frame {
  left: number
  width: number
}

const parentOf = (element: Element): Frame =>
  element.parentElement?.getBoundingClientRect() ?? { left: 0, width: 1 }

/**
 * The edge between two neighbours, which a pointer or the arrow keys move; a double click moves it to its usual place.
 * Without `frame`, the neighbours fill its parent.
 */
export function Splitter({
  label,
  share: { share, change },
  frame = parentOf,
  className = '',
}: {
  label: string
  share: ReturnType<typeof useKeptShare>
  frame?(element: Element): Frame
  className?: string | undefined
}) {
  const moved = ({ currentTarget, clientX, pointerId }: PointerEvent): void => {
    if (!currentTarget.hasPointerCapture(pointerId)) return
    const { left, width } = frame(currentTarget)
    change(((clientX - left) / width) * 100)
  }
  const pressed = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key]
    if (step !== undefined) change(share + step)
    else if (event.key === 'Home') change(undefined)
    else return
    // The page's own keys fold rows with the arrows.
    event.stopPropagation()
    event.preventDefault()
  }
  return (
    <div
      className={`${css['splitter']} ${className}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={Math.round(share)}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      title={`${label}: drag, or use the arrow keys; a double click sets the usual one`}
      tabIndex={0}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={moved}
      onDoubleClick={() => change(undefined)}
      onKeyDown={pressed}
    />
  )
}
