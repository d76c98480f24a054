import { withClauses } from '../../../data/list/compared-range.ts'
import { type Compared, useDifferences } from '../../../data/list/differences.ts'
import type { RunQuery } from '../../../data/run-pages.ts'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { countText, shareText } from '../../../parts/format/numbers.ts'
import { Loaded } from '../../../parts/states.tsx'
import { Link } from '../../../router/link.tsx'
import { withParams } from '../../../router/params.ts'
import css from './differences.module.css'

type Answer = NonNullable<ReturnType<typeof useDifferences>['data']>
type Difference = Answer['differences'][number]

const FIELDS: Readonly<Record<Difference['field'], string>> = {
  name: 'Name',
  run_type: 'Type',
  status: 'Status',
  error: 'Error',
  model: 'Model',
  provider: 'Provider',
  tag: 'Tag',
  issue: 'Issue',
  metadata_key: 'Metadata has',
  metadata_value: 'Metadata',
  user: 'Sent by',
  thread: 'Thread',
  latency: 'Latency',
  tokens: 'Tokens',
  model_below: 'Model of a call',
  tool_below: 'Tool called',
  error_below: 'Error inside',
  tag_below: 'Tag inside',
  metadata_below: 'Metadata inside',
}

const isBelow = ({ field }: Difference): boolean => field.endsWith('_below')

/** The change of the address: a value is added to the filter. That of runs below is only in the list of all runs. */
function changesOf({ filter }: RunQuery, one: Difference): Record<string, string | undefined> {
  const shown = { peek: undefined, sort: undefined }
  if (isBelow(one)) return { ...shown, view: 'runs', q: one.filter }
  return { peek: undefined, q: withClauses(filter, one.filter) }
}

function Share({ of, share }: { of: 'selected' | 'others'; share: number }) {
  return (
    <span className={css['share']}>
      <span>{of}</span>
      <span className={css['track']}>
        <span className={css[of]} style={{ inlineSize: `${share * 100}%` }} />
      </span>
      <span className={css['number']}>{shareText(share)}</span>
    </span>
  )
}

/** The values by which some runs of a list differ from the others; a click adds a value to the filter. */
export function Differences({
  query,
  compared,
  close,
}: {
  /** The list that has the compared runs and the others. */
  query: RunQuery
  compared: Compared
  close(): void
}) {
  const read = useDifferences(query, compared)
  const noun = query.isRoot ? 'Traces' : 'Runs'
  const title =
    'ids' in compared ? `What differs in these ${noun.toLowerCase()}` : 'What differs in this range'
  return (
    <Dialog title={title} close={close}>
      <Loaded from={read}>
        {(data) => (
          <>
            <p className={css['note']}>
              {noun}: {countText(data.selected_count)} selected, {countText(data.rest_count)} others of the
              list
              {!data.is_whole && ', of its newest 200,000'}.
              {data.differences.length > 0 && ' A click adds the value to the filter.'}
              {data.differences.some(isBelow) && ' A value inside traces opens the runs that have it.'}
            </p>
            {data.differences.length === 0 && <p>{emptyText(data)}</p>}
            <ol className={css['lines']} aria-label="Differences">
              {data.differences.map((one) => (
                <li key={one.filter}>
                  <Link
                    to={`/projects/${query.project}${withParams(location.search, changesOf(query, one))}`}
                    onClick={close}
                    title={one.filter}
                  >
                    <span className={css['field']}>
                      {FIELDS[one.field]}
                      {one.key !== undefined && ` ${one.key}`}
                    </span>
                    <b dir="auto">{one.value}</b>
                    <Share of="selected" share={one.selected_share} />
                    <Share of="others" share={one.rest_share} />
                  </Link>
                </li>
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

function emptyText({ selected_count, rest_count }: Answer): string {
  if (selected_count === 0) return 'None of them was found.'
  if (rest_count === 0) return 'The list has no others to compare them with.'
  return 'Nothing: names, models, tags, metadata, errors, times and tokens are as frequent as in the others.'
}
