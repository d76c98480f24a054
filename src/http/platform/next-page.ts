import { fitting } from '../../base/portions.ts'
import { integerParameter } from '../api/parameters.ts'
import type { Headers } from '../api/route.ts'

/** Text for descriptions of lists that are limited by bytes. */
export const NEXT_PAGE =
  'An answer has at most 32 MB, or one record; X-Pagination-Next has the next offset if there are more.'

/** The header with the offset of the next page, unless this is the last one. */
export function nextHeader({
  offset,
  shown,
  more,
}: {
  offset: number
  /** Records of this page. */
  shown: number
  more: boolean
}): Headers {
  return shown > 0 && more ? { 'x-pagination-next': offset + shown } : {}
}

/** Query of lists that are usually short and have no `limit` parameter. */
export const OFFSET_QUERY = {
  offset: integerParameter('Number of records to skip.', {
    minimum: 0,
    maximum: 1_000_000_000,
    otherwise: 0,
  }),
}

/** The records from `offset` on that fit into a response, and the header with the offset of the next page. */
export function boundedPage<Item>(
  all: readonly Item[],
  offset: number,
  max_bytes?: number,
): { headers: Headers; body: Item[] } {
  const sized = all.slice(offset).map((item) => ({ item, bytes: Buffer.byteLength(JSON.stringify(item)) }))
  const body = fitting(sized, max_bytes).map(({ item }) => item)
  const more = body.length < sized.length
  return { headers: nextHeader({ offset, shown: body.length, more }), body }
}
