import type { ListOrder, OrderedBy } from '../../data/run-pages.ts'
import { textParam } from '../../router/params.ts'

/** The order of a list in the address: `total_cost` for the largest first, `-total_cost` for the smallest first. */
export const SORT = textParam('sort')

const VALUES: readonly OrderedBy[] = ['latency', 'total_tokens', 'total_cost']

/** The order that a text of the address names; undefined for any other text. */
export function sortOf(text: string): ListOrder | undefined {
  const by = VALUES.find((value) => value === text.replace(/^-/, ''))
  return by && { by, order: text.startsWith('-') ? 'asc' : 'desc' }
}
