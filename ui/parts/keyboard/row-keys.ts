import type { RefObject } from 'react'
import { useKeys } from './keys.ts'
import { placeAfter } from './place-after.ts'

/** Rows outside tables, such as turns and checkpoints. If a page has any, `j` and `k` skip the rows of its tables. */
const MARKED = '[data-row]'
const TABLE_ROWS = 'tbody tr'

/** Focuses the first link in a row, or the button that is the row, so that Enter opens it; or else the row itself. */
function focusRow(row: HTMLElement | undefined): void {
  const link = row?.querySelector<HTMLElement>('a, :scope > button')
  if (!link && row !== undefined) row.tabIndex = -1
  const target = link ?? row
  target?.focus()
}

/**
 * Makes j focus the next row of a table or list and k the previous one, in the open dialog of a page if there is one.
 * Rows of folded tables are left out.
 */
export function useRowKeys(page: RefObject<HTMLElement | null>): void {
  const step = (by: number): void => {
    const frame = page.current?.querySelector('dialog[open]') ?? page.current
    const kind = frame?.querySelector(MARKED) ? MARKED : TABLE_ROWS
    const all = [...(frame?.querySelectorAll<HTMLElement>(kind) ?? [])]
    const rows = all.filter((row) => row.checkVisibility())
    const place = rows.findIndex((row) => row.contains(document.activeElement))
    focusRow(rows[placeAfter(place, by, rows.length)])
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
}
