import { useMemo } from 'react'
import type { AuditFilter } from '../../../data/settings/organization.ts'
import { Button, Field } from '../../../parts/controls.tsx'
import { type CustomRange, TimeRange } from '../../../parts/time-range/time-range.tsx'
import { setParam, setParams, useParam } from '../../../router/location.ts'
import { textParam, wordParam } from '../../../router/params.ts'
import css from '../settings.module.css'

const VALUES = {
  action: textParam('action'),
  actor: textParam('actor'),
  subject: textParam('subject'),
} as const
const RANGE = wordParam('t', ['all', '1d', '7d', '30d'])
const FROM = textParam('from')
const TO = textParam('to')

const DAYS = { all: 0, '1d': 1, '7d': 7, '30d': 30 } as const
const RANGES = [
  ['all', 'Any time'],
  ['1d', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]
const STEP = { step: true } as const

/** The start of a range as ISO time, cut to a minute, so that the log keeps its cache key for that long. */
function sinceOf(range: keyof typeof DAYS): string {
  if (DAYS[range] === 0) return ''
  const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return new Date(minute - DAYS[range] * DAY_MS).toISOString()
}

/** A filter with the range as the address has it. */
interface ShownFilter extends AuditFilter {
  range: keyof typeof DAYS
  custom: CustomRange
}

export function useAuditFilter(): ShownFilter {
  const [action, actor, subject] = [useParam(VALUES.action), useParam(VALUES.actor), useParam(VALUES.subject)]
  const [range, from, to] = [useParam(RANGE), useParam(FROM), useParam(TO)]
  return useMemo(() => {
    const isCustom = from !== '' || to !== ''
    const since = isCustom ? from : sinceOf(range)
    return { action, actor, subject, since, until: to, range, custom: { from, to } }
  }, [action, actor, subject, range, from, to])
}

/** A value of an entry; selecting it shows only the changes that have it. */
export function ChangesOf({ name, value, text }: { name: keyof typeof VALUES; value: string; text: string }) {
  return (
    <button
      type="button"
      className={css['value']}
      title="Show only changes with this value"
      onClick={() => setParam(VALUES[name], value, STEP)}
    >
      <code>{text}</code>
    </button>
  )
}

function Chosen({ name, label, value }: { name: keyof typeof VALUES; label: string; value: string }) {
  if (value === '') return null
  return (
    <Button
      icon="close"
      aria-label={`Remove: ${label} ${value}`}
      onClick={() => setParam(VALUES[name], '', STEP)}
    >
      {label} <code>{value}</code>
    </Button>
  )
}

/** The fields of the filter: kind of change and range, and the chosen author and subject. */
export function AuditFilters({ filter }: { filter: ShownFilter }) {
  const { action, actor, subject, range, custom, since, until } = filter
  return (
    <div className={css['actions']}>
      <form
        key={action}
        onSubmit={(event) => {
          event.preventDefault()
          const text = new FormData(event.currentTarget).get('action')
          setParam(VALUES.action, typeof text === 'string' ? text.trim() : '', STEP)
        }}
      >
        <Field
          name="action"
          type="search"
          aria-label="Change"
          placeholder="key, or key.create"
          defaultValue={action}
        />
      </form>
      <TimeRange
        value={range}
        options={RANGES}
        custom={custom}
        shown={{ from: since, to: until }}
        choose={(word) => setParams({ t: RANGE.write(word), from: undefined, to: undefined }, STEP)}
        chooseCustom={({ from, to }) =>
          setParams({ t: undefined, from: from || undefined, to: to || undefined }, STEP)
        }
      />
      <Chosen name="actor" label="By" value={actor} />
      <Chosen name="subject" label="Changed" value={subject} />
    </div>
  )
}
