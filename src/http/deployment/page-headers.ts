import type { ListPage } from '../../runs/lists.ts'
import type { Headers } from '../exchange.ts'

/**
 * Headers of a page of a list: how many records there are, where that is counted, and the next page's `offset` unless this
 * is the last one.
 */
export function pageHeaders(page: Pick<ListPage, 'shown' | 'total' | 'more'> & { offset: number }): Headers {
  const { offset, shown, total, more } = page
  return {
    ...(total !== null && { 'x-pagination-total': total }),
    ...(shown > 0 && more && { 'x-pagination-next': offset + shown }),
  }
}
