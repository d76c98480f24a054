import type { RefObject } from 'react'
import { useKeys } from './keys.ts'
import { placeAfter } from './place-after.ts'

/** The keys j and k of a table: they move the focus to the link of the next or previous row, which Enter opens. */
export function useRowKeys(frame: RefObject<HTMLElement | null>): void {
  const step = (by: number): void => {
    const rows = [...(frame.current?.querySelectorAll('tbody tr') ?? [])]
    const place = rows.findIndex((row) => row.contains(document.activeElement))
    rows[placeAfter(place, by, rows.length)]?.querySelector('a')?.focus()
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
}
