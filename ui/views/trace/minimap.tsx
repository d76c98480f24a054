import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Outline } from '../../data/outline.ts'
import type { Tree } from '../../data/tree.ts'
import { typeLook } from '../../parts/icon.tsx'
import css from './trace.module.css'
import { dragged, type ZoomRange } from './zoom.ts'

/** The current colour of a CSS variable such as `var(--llm)`. */
function colorOf(style: CSSStyleDeclaration, variable: string): string {
  return style.getPropertyValue(variable.slice('var('.length, -1)).trim()
}

/** The minimap of a larger trace is drawn after the first rows, because its lines take as long to draw as the rows. */
const MOST_AT_ONCE = 5000

/** Draws every run as a line; rows that share a line of pixels overlap. */
function draw(canvas: HTMLCanvasElement, outline: Outline, { order }: Tree): void {
  const { width, height } = canvas.getBoundingClientRect()
  const scale = devicePixelRatio
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const context = canvas.getContext('2d')
  if (context === null) return
  const style = getComputedStyle(canvas)
  const colors = new Map<string, string>()
  const line = Math.max(scale, Math.min(4 * scale, canvas.height / order.length))
  for (const [position, place] of order.entries()) {
    const type = outline.statuses[place] === 'error' ? 'error' : (outline.types[place] ?? '')
    const variable = type === 'error' ? 'var(--error)' : typeLook(type).color
    if (!colors.has(variable)) colors.set(variable, colorOf(style, variable))
    const start = outline.starts[place] ?? 0
    const duration = outline.durations[place] ?? 0
    const length = Number.isNaN(duration) ? outline.span - start : duration
    context.fillStyle = colors.get(variable) ?? ''
    const top = 2 * scale + (position / order.length) * (canvas.height - 4 * scale)
    context.fillRect(
      (start / outline.span) * canvas.width,
      top,
      Math.max(scale, (length / outline.span) * canvas.width),
      line * 0.8,
    )
  }
}

/** An overview of the whole trace. Dragging selects the time that the tree shows; a click selects all of it. */
export function Minimap({
  outline,
  tree,
  range,
  change,
}: {
  outline: Outline
  tree: Tree
  range: ZoomRange
  change(range: ZoomRange): void
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [start, setStart] = useState<number | undefined>()
  useEffect(() => {
    const element = canvas.current
    if (element === null) return undefined
    let later = 0
    const redraw = (): void => {
      clearTimeout(later)
      if (tree.order.length <= MOST_AT_ONCE) return draw(element, outline, tree)
      later = setTimeout(() => draw(element, outline, tree))
    }
    const observer = new ResizeObserver(redraw)
    observer.observe(element)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      clearTimeout(later)
      observer.disconnect()
      theme.disconnect()
    }
  }, [outline, tree])
  const shareOf = (event: PointerEvent): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - left) / width))
  }
  const [from, to] = [range.from / outline.span, range.to / outline.span]
  return (
    <div
      className={css['map']}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setStart(shareOf(event))
      }}
      onPointerMove={(event) => start !== undefined && change(dragged(start, shareOf(event), outline.span))}
      onPointerUp={(event) => {
        if (start !== undefined) change(dragged(start, shareOf(event), outline.span))
        setStart(undefined)
      }}
    >
      <canvas ref={canvas} />
      {to - from < 0.999 && (
        <div className={css['window']} style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }} />
      )}
    </div>
  )
}
