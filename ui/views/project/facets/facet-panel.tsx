import { useState } from 'react'
import { chosenFacet, type FacetGroup, withFacet } from '../../../data/filter/facets/groups.ts'
import { useFacetValues, useMetadataKeys } from '../../../data/filter/facets/values.ts'
import type { RunQuery } from '../../../data/run-pages.ts'
import { shortCount } from '../../../parts/format/numbers.ts'
import { Icon } from '../../../parts/icon.tsx'
import { Link } from '../../../router/link.tsx'
import { withParams } from '../../../router/params.ts'
import css from './facets.module.css'

const OF_ALL: readonly FacetGroup[] = [
  { field: 'status', title: 'Status' },
  { field: 'name', title: 'Name' },
  { field: 'tag', title: 'Tag' },
]
const OF_RUNS: readonly FacetGroup[] = [
  { field: 'run_type', title: 'Type' },
  { field: 'model', title: 'Model' },
  { field: 'issue', title: 'Issue' },
]
/** Keys of the metadata that differ from run to run. */
const UNLIKE_FACETS = /(?:^|_)(?:id|run|trace|session|thread)s?$|^ls_/

function Values({ query, group }: { query: RunQuery; group: FacetGroup }) {
  const { data, error, isPlaceholderData } = useFacetValues(query, group)
  if (error !== null) return <p className={css['note']}>{error.message}</p>
  if (data === undefined) return <p className={css['note']}>Reading …</p>
  if (data.values.length === 0) return <p className={css['note']}>none</p>
  const chosen = chosenFacet(
    query.filter,
    group,
    data.values.map(({ value }) => value),
  )
  const most = Math.max(...data.values.map(({ count }) => count))
  return (
    <ul className={css['values']} aria-busy={isPlaceholderData}>
      {data.values.map(({ value, count }) => {
        const q = withFacet(query.filter, group, value) || undefined
        return (
          <li key={value}>
            <Link
              to={`/projects/${query.project}${withParams(location.search, { q, peek: undefined })}`}
              aria-current={chosen === value ? 'true' : undefined}
              title={value}
            >
              <span className={css['bar']} style={{ inlineSize: `${(count / most) * 100}%` }} />
              <span className={css['value']}>{value === '' ? '–' : value}</span>
              <span className={css['count']}>
                {data.is_whole ? '' : '≥ '}
                {shortCount(count)}
              </span>
            </Link>
          </li>
        )
      })}
      {data.has_more && (
        <li className={css['note']}>more: type {group.key ?? group.title.toLowerCase()}: in the filter</li>
      )}
    </ul>
  )
}

function Group({ query, group, isFirst }: { query: RunQuery; group: FacetGroup; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst)
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className={css['group']}
    >
      <summary>
        <Icon name="open" />
        {group.title}
      </summary>
      {isOpen && <Values query={query} group={group} />}
    </details>
  )
}

/** Groups that are open at first: each open one is read. */
const OPEN_GROUPS = 3

/** The values of the fields of a list beside it, with their counts; one click narrows the list to them. */
export function FacetPanel({ query }: { query: RunQuery }) {
  const keys = useMetadataKeys(query).data?.values ?? []
  const metadata = keys
    .filter(({ value }) => !UNLIKE_FACETS.test(value))
    .map(({ value }): FacetGroup => ({ field: 'metadata_value', key: value, title: value }))
  const groups = [...(query.isRoot ? OF_ALL : [...OF_ALL, ...OF_RUNS]), ...metadata]
  return (
    <section className={css['panel']} aria-label="Values of the list" tabIndex={0}>
      {groups.map((group, at) => (
        <Group key={group.key ?? group.field} query={query} group={group} isFirst={at < OPEN_GROUPS} />
      ))}
    </section>
  )
}
