import type { RefObject } from 'react'
import { useKeys } from './keys.ts'

/** The row `by` places further in a list of `count` rows; from no row (-1), the first one. */
export function placeAfter(place: number, by: number, count: number): number {
  return Math.max(0, Math.min(place + by, count - 1))
}

/** The keys j and k of a table: they move the focus to the link of the next or previous row, which Enter opens. */
export function useRowKeys(frame: RefObject<HTMLElement | null>): void {
  const step = (by: number): void => {
    const rows = [...(frame.current?.querySelectorAll('tbody tr') ?? [])]
    const place = rows.findIndex((row) => row.contains(document.activeElement))
    rows[placeAfter(place, by, rows.length)]?.querySelector('a')?.focus()
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
}
