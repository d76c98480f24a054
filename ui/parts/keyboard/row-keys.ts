import type { RefObject } from 'react'
import { useKeys } from './keys.ts'
import { placeAfter } from './place-after.ts'

/** Focuses the first link in a row, so that Enter opens it, or the row if it has no link. */
function focusRow(row: HTMLElement | undefined): void {
  const link = row?.querySelector('a')
  if (!link && row !== undefined) row.tabIndex = -1
  const target = link ?? row
  target?.focus()
}

/**
 * Makes j focus the next table row and k the previous one, in the open dialog of a page if there is one. Rows of folded
 * tables are left out.
 */
export function useRowKeys(page: RefObject<HTMLElement | null>): void {
  const step = (by: number): void => {
    const frame = page.current?.querySelector('dialog[open]') ?? page.current
    const all = [...(frame?.querySelectorAll<HTMLElement>('tbody tr') ?? [])]
    const rows = all.filter((row) => row.checkVisibility())
    const place = rows.findIndex((row) => row.contains(document.activeElement))
    focusRow(rows[placeAfter(place, by, rows.length)])
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
}
