import type { FormEvent } from 'react'
import { usePricePreview, useReprice } from '../../data/prices/queries.ts'
import { usePermission } from '../../data/session.ts'
import type { RepriceJob } from '../../api/platform.gen.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { countText, shareText } from '../../parts/format/numbers.ts'
import { isoOfLocal, localText } from '../../parts/format/times.ts'
import { readPreference } from '../../parts/preferences.ts'
import { Failure } from '../../parts/states.tsx'
import { Preview } from './preview.tsx'
import css from './prices.module.css'

const STATES: Readonly<Record<RepriceJob['status'], string>> = {
  queued: 'Waiting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
}

function JobState({ job }: { job: RepriceJob }) {
  const { status, progress, examined, changed, error } = job
  return (
    <p role="status">
      {STATES[status]}
      {status === 'running' && `, ${shareText(progress)}`}: {countText(examined)} runs looked at,{' '}
      {countText(changed)} with other costs. {error}
    </p>
  )
}

const DAY_MS = 86_400_000
/** The days of which the page lists the models without a price. */
const DAYS = 30

/** Midnight this many days after today, for an input field. */
function midnight(days: number): string {
  return `${localText(new Date(Date.now() + days * DAY_MS).toISOString(), readPreference('zone')).slice(0, 10)}T00:00:00`
}

/** Computes the costs of stored runs again, and shows the progress. */
export function Reprice() {
  const { isAllowed, reason } = usePermission('workspaces:manage')
  const { start, job } = useReprice()
  const state = job.data ?? start.data
  const isRunning = state?.status === 'queued' || state?.status === 'running'
  const preview = usePricePreview()
  const rangeOf = (element: HTMLFormElement) => {
    const form = new FormData(element)
    const zone = readPreference('zone')
    return { start_time: isoOfLocal(form.get('from'), zone), end_time: isoOfLocal(form.get('to'), zone) }
  }
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    preview.reset()
    start.mutate(rangeOf(event.currentTarget))
  }
  return (
    <section className={css['section']} aria-label="Stored costs">
      <h2>Compute stored costs again</h2>
      <p className={css['note']}>
        A price counts for runs that arrive after it was saved. Earlier ones get their costs by the present
        prices here; costs that clients sent stay.
      </p>
      <form className={css['try']} aria-label="Compute costs again" onSubmit={submit}>
        <label>
          Runs that start from
          <Field name="from" type="datetime-local" step={1} required defaultValue={midnight(-DAYS)} />
        </label>
        <label>
          until
          <Field name="to" type="datetime-local" step={1} required defaultValue={midnight(1)} />
        </label>
        <Button type="submit" disabled={!isAllowed || start.isPending || isRunning} title={reason}>
          Compute again
        </Button>
        <Button
          disabled={!isAllowed || preview.isPending || isRunning}
          title={reason}
          onClick={({ currentTarget: { form } }) => form?.reportValidity() && preview.mutate(rangeOf(form))}
        >
          What would change
        </Button>
      </form>
      <Preview asked={preview} range="In this time:" />
      {(start.error ?? job.error) !== null && <Failure error={start.error ?? job.error} />}
      {state !== undefined && <JobState job={state} />}
    </section>
  )
}
