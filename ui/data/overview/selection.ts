import { joinFilter, quoted, splitFilter } from '../filter/filter.ts'
import type { Bucket } from './buckets.ts'

/** The kinds of runs that an overview can have. */
export const SUBJECTS = ['traces', 'llm', 'tool', 'all'] as const
/** One of these kinds. */
export type Subject = (typeof SUBJECTS)[number]

/** Groupings of an overview other than keys of the metadata. */
export const ATTRIBUTES = ['model', 'provider', 'name', 'tag', 'run_type', 'status'] as const

/** An attribute, or `metadata.` and a key; '' for no groups. */
export type GroupBy = (typeof ATTRIBUTES)[number] | `metadata.${string}` | ''

export interface Selection {
  project: string
  /** Expression of the filter language; '' for all. */
  filter: string
  subject: Subject
  group: GroupBy
}

/** The grouping that a text of the address names; '' for any other text. */
export function groupByOf(text: string): GroupBy {
  if (text.startsWith('metadata.') && text.length > 'metadata.'.length) return text as `metadata.${string}`
  return ATTRIBUTES.find((one) => one === text) ?? ''
}

/** The metadata key by which runs are grouped; undefined for other groupings. */
export function metadataKeyOf(group: GroupBy): string | undefined {
  return group.startsWith('metadata.') ? group.slice('metadata.'.length) : undefined
}

/** The parameters of a request for figures by group; none without groups. */
export function groupingOf(group: GroupBy, max_groups: number) {
  if (group === '') return {}
  const key = metadataKeyOf(group)
  const attribute = key === undefined ? (group as (typeof ATTRIBUTES)[number]) : ('metadata' as const)
  return { group_by: { attribute, max_groups, ...(key !== undefined && { path: key }) } }
}

/** A clause that runs with a key of the metadata satisfy. */
export function hasKeyClause(key: string): string {
  return `eq(metadata_key, ${quoted(key)})`
}

/** A clause that the runs of a group satisfy, and no other runs. */
export function groupClause(group: GroupBy, value: string): string {
  const key = metadataKeyOf(group)
  if (key !== undefined) return `and(${hasKeyClause(key)}, eq(metadata_value, ${quoted(value)}))`
  return group === 'tag' ? `has(tags, ${quoted(value)})` : `eq(${group}, ${quoted(value)})`
}

export function narrowed(filter: string, clauses: readonly string[]): string {
  return joinFilter([...new Set([...splitFilter(filter), ...clauses])])
}

/** Clauses of a kind of runs. Traces need none: the request selects root runs. */
export function subjectClauses(subject: Subject): string[] {
  return subject === 'llm' || subject === 'tool' ? [`eq(run_type, "${subject}")`] : []
}

/** The path of the list of exactly the runs that a figure counts. */
export function rowsPath(
  { project, filter, subject }: Selection,
  { start, end }: Bucket,
  clauses: readonly string[],
): string {
  const search = new URLSearchParams({ from: start, to: end })
  if (subject !== 'traces') search.set('view', 'runs')
  const q = narrowed(filter, [...subjectClauses(subject), ...clauses])
  if (q !== '') search.set('q', q)
  return `/projects/${project}?${search}`
}

/** Runs that took at least `seconds`: those above a percentile. */
export function slowerClause(field: 'latency' | 'ttft', seconds: number): string {
  return `gte(${field}, "${Math.ceil(Math.round(seconds * 1e9) / 1000)}us")`
}
