import type { ListOrder, OrderedBy, RunQuery } from '../run-pages.ts'

/** Parameters of the page of a project that decide which runs its list has, and in which order. */
const OF_A_LIST = ['view', 'q', 't', 'from', 'to', 'sort']

/** Lengths of the named ranges in hours; `all` has no limit. */
export const HOURS = { all: 0, '1h': 1, '1d': 24, '7d': 168, '30d': 720 } as const
const MINUTE_MS = 60_000

/** The start of a named range as ISO time, cut to a minute, so that a list keeps its cache key for that long. */
export function sinceOf(range: keyof typeof HOURS): string {
  const hours = HOURS[range]
  if (hours === 0) return ''
  const minute = Math.floor(Date.now() / MINUTE_MS)
  return new Date((minute - hours * 60) * MINUTE_MS).toISOString()
}

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
export function listQuery(project: string, part: string): RunQuery {
  const params = new URLSearchParams(part)
  const text = (name: string): string => params.get(name) ?? ''
  const range = text('t')
  const isCustom = text('from') !== '' || text('to') !== ''
  const since = Object.hasOwn(HOURS, range) ? sinceOf(range as keyof typeof HOURS) : ''
  return {
    project,
    filter: text('q'),
    isRoot: text('view') !== 'runs',
    since: isCustom ? text('from') : since,
    until: text('to'),
    sort: sortOf(text('sort')),
  }
}
