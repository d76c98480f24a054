import { clauseParts, joinFilter, quoted, splitFilter } from '../filter.ts'

/** A field whose values stand beside a list, with their counts. */
export interface FacetGroup {
  field: 'status' | 'name' | 'model' | 'run_type' | 'tag' | 'issue' | 'metadata_value'
  /** Key of the metadata. */
  key?: string
  title: string
}

/** The clause that a value of a field stands for. */
export function facetClause({ field, key }: FacetGroup, value: string): string {
  if (field === 'tag') return `has(tags, ${quoted(value)})`
  if (field === 'metadata_value') return `has(metadata, ${quoted(JSON.stringify({ [key ?? '']: value }))})`
  return `eq(${field}, ${quoted(value)})`
}

/** Whether a clause selects one value of the field. */
export function isOfFacet({ field, key }: FacetGroup, clause: string): boolean {
  const { operator, first, value } = clauseParts(clause)
  if (field === 'tag') return operator === 'has' && first === 'tags'
  if (field === 'metadata_value') {
    const start = JSON.stringify({ [key ?? '']: '' }).slice(0, -2)
    return operator === 'has' && first === 'metadata' && value.startsWith(start)
  }
  return operator === 'eq' && first === field
}

/** The filter with a value chosen instead of another one of its field, or without it if it was chosen. */
export function withFacet(filter: string, group: FacetGroup, value: string): string {
  const clause = facetClause(group, value)
  const clauses = splitFilter(filter)
  const others = clauses.filter((one) => !isOfFacet(group, one))
  return joinFilter(clauses.includes(clause) ? others : [...others, clause])
}

/** The value of the field that a filter has chosen. */
export function chosenFacet(
  filter: string,
  group: FacetGroup,
  values: readonly string[],
): string | undefined {
  const clauses = splitFilter(filter)
  return values.find((value) => clauses.includes(facetClause(group, value)))
}
