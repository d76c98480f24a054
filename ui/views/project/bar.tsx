import { type ReactNode, useMemo } from 'react'
import { endsOf, RANGE_WORDS, RANGES, type RangeWord } from '../../data/filter/ranges.ts'
import { readPreference } from '../../parts/preferences.ts'
import { type CustomRange, TimeRange } from '../../parts/time-range/time-range.tsx'
import { setParam, setParams, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { FilterBar } from './filter-bar.tsx'
import { ViewsMenu } from './saved-views/views-menu.tsx'
import css from './project.module.css'

/** The filter of the address. */
export const FILTER = textParam('q')
const RANGE = wordParam('t', RANGE_WORDS)
const FROM = textParam('from')
const TO = textParam('to')
/** The order of a list, as `sortOf` reads it. */
export const SORT = textParam('sort')

/** The id of the run in the panel beside a list; '' while the panel is closed. */
export const PEEK = textParam('peek')

/** Filter and range of the address. */
export interface Shown {
  filter: string
  range: RangeWord
  custom: CustomRange
  /** Both ends as ISO times; '' for no limit. */
  since: string
  until: string
}

/** The filter and time range in the page's address. */
export function useShown(): Shown {
  const [filter, range, from, to] = [useParam(FILTER), useParam(RANGE), useParam(FROM), useParam(TO)]
  return useMemo(() => {
    const isCustom = from !== '' || to !== ''
    const ends = isCustom ? { since: from, until: to } : endsOf(range, readPreference('zone'))
    return { filter, range, custom: { from, to }, ...ends }
  }, [filter, range, from, to])
}

/** Writes a named range, or one between two times, into the address. */
export function setRange(t: string | undefined, { from, to }: CustomRange): void {
  setParams({ t, from: from || undefined, to: to || undefined }, { step: true })
}

/** The filter and the range of a view, with the view's own tools beside them. */
export function ViewBar({
  project,
  isRoot,
  shown,
  children,
}: {
  project: string
  isRoot: boolean
  shown: Shown
  children?: ReactNode
}) {
  const { filter, range, custom, since, until } = shown
  return (
    <div className={css['bar']}>
      <ViewsMenu project={project} />
      <FilterBar
        filter={filter}
        query={{ project, isRoot, since, until }}
        change={(text) => setParam(FILTER, text, { step: true })}
      />
      <TimeRange
        value={range}
        options={RANGES}
        custom={custom}
        shown={{ from: since, to: until }}
        choose={(word) => setRange(RANGE.write(word), { from: '', to: '' })}
        chooseCustom={(chosen) => setRange(undefined, chosen)}
      />
      {children}
    </div>
  )
}
