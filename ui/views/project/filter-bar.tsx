import { useState } from 'react'
import { facetOf, facetOffers, facetTextOf } from '../../data/filter/facets/facet-text.ts'
import { useFacets } from '../../data/filter/facets/suggestions.ts'
import { clauseText, joinFilter, splitFilter, suggest } from '../../data/filter/filter.ts'
import type { RunQuery } from '../../data/run-pages.ts'
import { Combobox } from '../../parts/forms/combobox.tsx'
import { Button, IconButton } from '../../parts/controls.tsx'
import css from './project.module.css'

const CLASSES = { input: css['input'], options: css['options'], option: css['option'], hint: css['hint'] }

interface BarProps {
  filter: string
  /** Selects, together with the filter, the runs whose values are suggested. */
  query: Omit<RunQuery, 'filter' | 'sort'>
  change(filter: string): void
}

const FIELD_ID = 'filter'

/** The clauses of a filter as chips, and a field for more; or the whole filter as text. */
export function FilterBar({ filter, query, change }: BarProps) {
  const [isText, setText] = useState(false)
  return (
    <>
      {isText ? (
        <FilterText filter={filter} change={change} close={() => setText(false)} />
      ) : (
        <FilterChips filter={filter} query={query} change={change} />
      )}
      <Button look="plain" aria-pressed={isText} onClick={() => setText(!isText)}>
        As text
      </Button>
    </>
  )
}

function FilterChips({ filter, query, change }: BarProps) {
  const [typed, setTyped] = useState('')
  const [replaced, setReplaced] = useState<string>()
  const clauses = splitFilter(filter)
  const others = clauses.filter((clause) => clause !== replaced)
  const facets = useFacets(typed, query, others)
  const type = (text: string): void => {
    setTyped(text)
    if (text === '') setReplaced(undefined)
  }
  const add = (clause: string): void => {
    type('')
    change(joinFilter(swapped(clauses, replaced, splitFilter(clause))))
  }
  const edit = (clause: string, text: string): void => {
    setTyped(text)
    setReplaced(clause)
    document.getElementById(FIELD_ID)?.focus()
  }
  const options = (facets ?? [...facetOffers(typed), ...suggest(typed)]).map(({ clause, hint }, place) => ({
    id: String(place),
    text: clauseText(clause),
    hint,
    choose: () => (facetOf(clause) === undefined ? add(clause) : type(clause)),
  }))
  return (
    <>
      {clauses.map((clause) => (
        <FilterChip
          key={clause}
          clause={clause}
          edit={edit}
          remove={() => change(joinFilter(clauses.filter((one) => one !== clause)))}
        />
      ))}
      <div className={css['entry']}>
        <Combobox
          id={FIELD_ID}
          label="Search or filter"
          placeholder="Search, or filter:  model: gpt"
          value={typed}
          options={options}
          classes={CLASSES}
          change={type}
          submit={() => typed.trim() !== '' && options[0]?.choose()}
        />
      </div>
    </>
  )
}

/** The clauses with those of `added` that they lack, in place of `replaced` or at the end. */
function swapped(
  clauses: readonly string[],
  replaced: string | undefined,
  added: readonly string[],
): string[] {
  const others = added.filter((one) => !clauses.includes(one))
  if (replaced === undefined || others.length === 0 || !clauses.includes(replaced))
    return [...clauses, ...others]
  return clauses.flatMap((one) => (one === replaced ? others : one))
}

/** A clause that can be removed; one that compares a field with a value can be changed to other values. */
function FilterChip({
  clause,
  edit,
  remove,
}: {
  clause: string
  edit(clause: string, text: string): void
  remove(): void
}) {
  const text = clauseText(clause)
  const asks = facetTextOf(clause)
  return (
    <span className={css['chip']} title={clause}>
      {asks === undefined ? (
        text
      ) : (
        <button
          type="button"
          className={css['change']}
          aria-label={`Change ${text}`}
          onClick={() => edit(clause, asks)}
        >
          {text}
        </button>
      )}
      <IconButton icon="close" label={`Remove ${text}`} onClick={remove} />
    </span>
  )
}

function FilterText({
  filter,
  change,
  close,
}: {
  filter: string
  change(filter: string): void
  close(): void
}) {
  return (
    <form
      className={css['entry']}
      onSubmit={(event) => {
        event.preventDefault()
        change(String(new FormData(event.currentTarget).get('filter') ?? '').trim())
        close()
      }}
    >
      <input
        id={FIELD_ID}
        name="filter"
        aria-label="Filter expression"
        className={css['input']}
        defaultValue={filter}
        spellCheck={false}
        autoComplete="off"
        autoFocus
      />
    </form>
  )
}
