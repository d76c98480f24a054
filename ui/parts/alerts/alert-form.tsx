import { useState } from 'react'
import type { Alert } from '../../api/platform.gen.ts'
import { Field, Select } from '../controls.tsx'
import { ChangeForm } from '../forms/change-form.tsx'
import {
  enteredText,
  FIGURE_NAMES,
  MOST_NAME,
  SUBJECT_NAMES,
  thresholdOf,
  unitOf,
  windowText,
} from './words.ts'

/** What a rule says, without its project. */
export type AlertRule = Pick<
  Alert,
  | ('name' | 'subject' | 'filter' | 'figure' | 'comparison' | 'threshold')
  | ('window_minutes' | 'no_data' | 'webhook_url')
>

const WINDOWS = [5, 10, 15, 30, 60, 180, 360, 720, 1440]
const COMPARISONS = [
  ['above', 'is above'],
  ['below', 'is below'],
] as const
const NO_DATA = [
  ['keep', 'keep the state'],
  ['ok', 'resolve'],
  ['fire', 'fire'],
] as const

/** What is chosen in the form; the other fields are read when it is submitted. */
function useChoices(rule: AlertRule) {
  const [figure, setFigure] = useState(rule.figure)
  const [comparison, setComparison] = useState(rule.comparison)
  const [window_minutes, setWindow] = useState(String(rule.window_minutes))
  const [no_data, setNoData] = useState(rule.no_data)
  const [filter, setFilter] = useState(rule.filter ?? '')
  const read = (form: FormData): AlertRule => {
    const text = (name: string): string => String(form.get(name) ?? '')
    return {
      name: text('name').trim(),
      subject: rule.subject,
      filter: filter === '' ? null : filter,
      figure,
      comparison,
      threshold: thresholdOf(figure, text('threshold')),
      window_minutes: Number(window_minutes),
      no_data,
      webhook_url: text('webhook').trim() || null,
    }
  }
  const chosen = { figure, comparison, window_minutes, no_data, filter }
  return { ...chosen, setFigure, setComparison, setWindow, setNoData, setFilter, read }
}

/** When the rule fires: the comparison with a threshold, over a window. */
function Condition({ rule, choices }: { rule: AlertRule; choices: ReturnType<typeof useChoices> }) {
  const { figure, comparison, window_minutes, no_data, setComparison, setWindow, setNoData } = choices
  const unit = unitOf(figure)
  const windows = [...new Set([...WINDOWS, rule.window_minutes])].toSorted((a, b) => a - b)
  return (
    <>
      <label>
        Fires if it
        <Select<Alert['comparison']>
          label="Comparison"
          value={comparison}
          options={COMPARISONS}
          onChange={setComparison}
        />
      </label>
      <label>
        Threshold{unit !== '' && `, ${unit}`}
        <Field
          name="threshold"
          type="number"
          step="any"
          required
          defaultValue={enteredText(figure, rule.threshold)}
        />
      </label>
      <label>
        Over
        <Select
          label="Window"
          value={window_minutes}
          options={windows.map((minutes) => [String(minutes), windowText(minutes)] as const)}
          onChange={setWindow}
        />
      </label>
      <label>
        Without a value
        <Select<Alert['no_data']>
          label="Without a value"
          value={no_data}
          options={NO_DATA}
          onChange={setNoData}
        />
      </label>
    </>
  )
}

/** The form of an alert. The runs that it is about are those of the chart, or those that it had. */
export function AlertForm({
  label,
  rule,
  figures,
  groups = [],
  nameOf,
  change,
  save,
  close,
}: {
  label: string
  rule: AlertRule
  figures: readonly Alert['figure'][]
  /** Filters that the rule may have, and their names; none: the filter of the rule. */
  groups?: readonly (readonly [filter: string, name: string])[]
  /** The name until one is entered, by figure and group; none: the name of the rule. */
  nameOf?: (figure: Alert['figure'], group: string | undefined) => string
  change: { error: unknown; isPending: boolean }
  save(rule: AlertRule): void
  close(): void
}) {
  const choices = useChoices(rule)
  const { figure, filter, setFigure, setFilter, read } = choices
  const [entered, enter] = useState<string>()
  const group = groups.find(([of]) => of === filter)
  const suggested = nameOf?.(figure, group === groups[0] ? undefined : group?.[1]) ?? rule.name
  return (
    <ChangeForm label={label} change={change} submit={(form) => save(read(form))} close={close}>
      <label className="wide">
        Name
        <Field
          name="name"
          required
          maxLength={MOST_NAME}
          value={entered ?? suggested}
          onChange={({ target }) => enter(target.value)}
          autoFocus
        />
      </label>
      <label>
        Figure of {SUBJECT_NAMES[rule.subject]}
        <Select<Alert['figure']>
          label="Figure"
          value={figure}
          options={figures.map((one) => [one, FIGURE_NAMES[one]] as const)}
          onChange={setFigure}
        />
      </label>
      {groups.length > 0 && (
        <label>
          Of
          <Select label="Group" value={filter} options={groups} onChange={setFilter} />
        </label>
      )}
      <Condition rule={rule} choices={choices} />
      <label className="wide">
        Webhook (optional): an address that is told when it fires and when it is resolved
        <Field name="webhook" type="url" maxLength={2048} defaultValue={rule.webhook_url ?? ''} />
      </label>
    </ChangeForm>
  )
}
