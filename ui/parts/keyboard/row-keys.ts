import type { RefObject } from 'react'
import { useKeys } from './keys.ts'
import { placeAfter } from './place-after.ts'

/** Focuses the link of a row, which Enter opens; a row without a link is focused itself. */
function focusRow(row: HTMLElement | undefined): void {
  const link = row?.querySelector('a')
  if (!link && row !== undefined) row.tabIndex = -1
  const target = link ?? row
  target?.focus()
}

/** The keys j and k of the tables of a page, or of the dialog that is open in it: the next and the previous row. */
export function useRowKeys(page: RefObject<HTMLElement | null>): void {
  const step = (by: number): void => {
    const frame = page.current?.querySelector('dialog[open]') ?? page.current
    const rows = [...(frame?.querySelectorAll<HTMLElement>('tbody tr') ?? [])]
    const place = rows.findIndex((row) => row.contains(document.activeElement))
    focusRow(rows[placeAfter(place, by, rows.length)])
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
}
