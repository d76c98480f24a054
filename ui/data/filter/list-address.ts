import type { ListOrder, OrderedBy, RunQuery } from '../run-pages.ts'
import { endsOf, RANGE_WORDS } from './ranges.ts'

/** Parameters of the page of a project that decide which runs its list has, and in which order. */
const OF_A_LIST = ['view', 'q', 't', 'from', 'to', 'sort']

const VALUES: readonly OrderedBy[] = ['latency', 'total_tokens', 'total_cost']

/**
 * The order that a text of the address names: `total_cost` for the largest first, `-total_cost` for the smallest first.
 * Undefined for any other text.
 */
export function sortOf(text: string): ListOrder | undefined {
  const by = VALUES.find((value) => value === text.replace(/^-/, ''))
  return by && { by, order: text.startsWith('-') ? 'asc' : 'desc' }
}

/** The part of a project's address that describes its list, for the addresses of the traces that are opened from it. */
export function listPart(search: string): string {
  const params = new URLSearchParams(search)
  const kept = [...params].filter(([name]) => OF_A_LIST.includes(name))
  return new URLSearchParams(kept).toString()
}

/** The list of a project that `listPart` described. */
export function listQuery(project: string, part: string, zone: 'local' | 'utc' = 'local'): RunQuery {
  const params = new URLSearchParams(part)
  const text = (name: string): string => params.get(name) ?? ''
  const isCustom = text('from') !== '' || text('to') !== ''
  const range = RANGE_WORDS.find((word) => word === text('t')) ?? 'all'
  const ends = endsOf(range, zone)
  return {
    project,
    filter: text('q'),
    isRoot: text('view') !== 'runs',
    ...(isCustom ? { since: text('from'), until: text('to') } : ends),
    sort: sortOf(text('sort')),
  }
}
