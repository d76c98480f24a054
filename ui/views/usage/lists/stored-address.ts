import type { StoredQuery } from '../../../data/usage/stored.ts'
import { type Stride, type UsageQuery, usageKeyOf } from '../../../data/usage/lines.ts'
import type { UsageGroup } from '../table.ts'

const HOUR_MS = 3_600_000

/** The part of a report that one bar shows. */
function barRange({ from, to }: UsageQuery, { days, hours }: Stride, bucket: string) {
  const end = new Date(Date.parse(bucket) + (days * 24 + hours) * HOUR_MS).toISOString()
  return { from: bucket > from ? bucket : from, to: end < to ? end : to }
}

/**
 * The path of the list of the stored traces behind a number of a report by a key of the metadata: of one group, of
 * several, of one bar, or of the whole report.
 */
export function storedPath(query: UsageQuery, stride: Stride, group?: UsageGroup, bucket?: string): string {
  const { from, to } = bucket === undefined ? query : barRange(query, stride, bucket)
  const search = new URLSearchParams({ from, to, key: usageKeyOf(query.grouping) ?? '' })
  for (const [name, values] of Object.entries(group?.selects ?? {}))
    for (const value of [values].flat()) search.append(name === 'one_of' ? 'value' : name, value)
  if (group !== undefined) search.set('name', group.name)
  return `/usage/stored?${search}`
}

/** The path of the list of the traces of a report that have calls without a price. */
export function unpricedStoredPath(query: UsageQuery, stride: Stride): string {
  return `${storedPath(query, stride)}&unpriced=yes`
}

/** The query in the address of the list. */
export function storedQuery(search: URLSearchParams): StoredQuery {
  return {
    from: search.get('from') ?? '',
    to: search.get('to') ?? '',
    key: search.get('key') ?? '',
    values: search.getAll('value'),
    isWithout: search.has('without'),
    except: search.getAll('except'),
    isUnpriced: search.has('unpriced'),
  }
}
