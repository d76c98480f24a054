import { useState } from 'react'
import { Button, Field, Select } from '../controls.tsx'
import { isoOfLocal, localText } from '../format/times.ts'
import { readPreference } from '../preferences.ts'
import { type ShownRange, useRangeOfPage } from '../../router/frozen-range.ts'
import css from './time-range.module.css'

/** A range between two ISO times; '' for no limit. */
export type CustomRange = ShownRange

const CUSTOM = 'custom'

function CustomForm({ custom, choose }: { custom: CustomRange; choose(range: CustomRange): void }) {
  const zone = readPreference('zone')
  return (
    <form
      className={css['range']}
      aria-label="Range of time"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        choose({ from: isoOfLocal(form.get('from'), zone), to: isoOfLocal(form.get('to'), zone) })
      }}
    >
      <Field
        name="from"
        type="datetime-local"
        step={1}
        aria-label="From"
        defaultValue={localText(custom.from, zone)}
      />
      <Field
        name="to"
        type="datetime-local"
        step={1}
        aria-label="To"
        defaultValue={localText(custom.to, zone)}
      />
      <Button type="submit">Show</Button>
    </form>
  )
}

/** A choice of named ranges, and of one between two times. */
export function TimeRange<W extends string>({
  value,
  options,
  custom,
  shown,
  choose,
  chooseCustom,
}: {
  value: W
  options: readonly (readonly [W, string])[]
  custom: CustomRange
  /** The times of the chosen range. */
  shown: ShownRange
  choose(word: W): void
  chooseCustom(range: CustomRange): void
}) {
  useRangeOfPage(shown)
  const [isAsked, ask] = useState(false)
  const isCustom = isAsked || custom.from !== '' || custom.to !== ''
  return (
    <>
      <Select<W | typeof CUSTOM>
        label="Range"
        value={isCustom ? CUSTOM : value}
        options={[...options, [CUSTOM, 'From … to …']]}
        onChange={(word) => {
          ask(word === CUSTOM)
          if (word !== CUSTOM) choose(word)
        }}
      />
      {isCustom && <CustomForm key={`${custom.from} ${custom.to}`} custom={custom} choose={chooseCustom} />}
    </>
  )
}
