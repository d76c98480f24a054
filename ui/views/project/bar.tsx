import { type ReactNode, useMemo } from 'react'
import { type CustomRange, TimeRange } from '../../parts/time-range/time-range.tsx'
import { setParam, setParams, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { FilterBar } from './filter-bar.tsx'
import css from './project.module.css'

const FILTER = textParam('q')
const RANGE = wordParam('t', ['all', '1h', '1d', '7d', '30d'])
const FROM = textParam('from')
const TO = textParam('to')

const HOURS = { all: 0, '1h': 1, '1d': 24, '7d': 168, '30d': 720 } as const
const RANGES = [
  ['all', 'Any time'],
  ['1h', 'Last hour'],
  ['1d', 'Last day'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const
const MINUTE_MS = 60_000

/** The start of a range as ISO time, cut to a minute, so that the list keeps its cache key for that long. */
function sinceOf(range: keyof typeof HOURS): string {
  const hours = HOURS[range]
  if (hours === 0) return ''
  const minute = Math.floor(Date.now() / MINUTE_MS)
  return new Date((minute - hours * 60) * MINUTE_MS).toISOString()
}

/** Filter and range of the address. */
export interface Shown {
  filter: string
  range: keyof typeof HOURS
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
    return { filter, range, custom: { from, to }, since: isCustom ? from : sinceOf(range), until: to }
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
