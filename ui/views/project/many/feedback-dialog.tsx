import { useId, useState } from 'react'
import { useFeedbackKeys } from '../../../data/feedback.ts'
import { useSharedFeedback } from '../../../data/list/many-runs.ts'
import type { ListedRun } from '../../../data/run-pages.ts'
import { Field } from '../../../parts/controls.tsx'
import { ChangeForm } from '../../../parts/forms/change-form.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { notify } from '../../../parts/notice.tsx'
import css from './many.module.css'

/** Gives the same feedback to all selected runs. */
export function FeedbackDialog({
  runs,
  done,
  close,
}: {
  runs: readonly ListedRun[]
  done(): void
  close(): void
}) {
  const list = useId()
  const keys = useFeedbackKeys(true).data ?? []
  const change = useSharedFeedback()
  const [fault, setFault] = useState('')
  const title = `Feedback on ${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`
  const submit = (form: FormData): void => {
    const text = (name: string): string => String(form.get(name) ?? '').trim()
    const [score, comment] = [Number(text('score').replace(',', '.')), text('comment')]
    if (Number.isNaN(score)) return setFault('The score is a number, as 0.5, or empty.')
    setFault('')
    change.mutate(
      {
        runs: runs.map(({ id }) => id),
        key: text('key'),
        score: text('score') === '' ? null : score,
        comment: comment === '' ? null : comment,
      },
      {
        onSuccess: () => {
          done()
          notify(`${runs.length} runs have the feedback ${text('key')}.`)
        },
      },
    )
  }
  return (
    <Dialog title={title} close={close}>
      <ChangeForm label={title} change={change} submit={submit} close={close}>
        <label>
          Key
          <Field name="key" required list={list} />
        </label>
        <datalist id={list}>
          {keys.map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
        <label>
          Score
          <Field name="score" inputMode="decimal" />
        </label>
        <label className="wide">
          Comment
          <Field name="comment" />
        </label>
        {fault !== '' && (
          <p className={`wide ${css['note']}`} role="alert">
            {fault}
          </p>
        )}
      </ChangeForm>
    </Dialog>
  )
}
