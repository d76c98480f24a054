import type { Headers } from '../exchange.ts'

/** Headers of a page of a search: how many there are, and the next page's `offset` unless this is the last. */
export function pageHeaders(page: { offset: number; shown: number; total: number }): Headers {
  const next = page.offset + page.shown
  return {
    'x-pagination-total': page.total,
    ...(page.shown > 0 && next < page.total && { 'x-pagination-next': next }),
  }
}
