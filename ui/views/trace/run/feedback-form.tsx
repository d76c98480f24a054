import { type FormEvent, useId, useState } from 'react'
import { parseExact } from '../../../api/exact-json.ts'
import { type Feedback, type Judgement, useFeedbackKeys } from '../../../data/feedback.ts'
import { Button, Field } from '../../../parts/controls.tsx'
import { exactText } from '../../../parts/json/json-text.ts'
import css from './run.module.css'

function textOf(form: FormData, name: string): string | null {
  const text = String(form.get(name) ?? '').trim()
  return text === '' ? null : text
}

/** A correction is JSON if it can be parsed, else text. */
function correctionOf(text: string | null): unknown {
  if (text === null || !/^[[{"]|^(?:true|false|null|-?\d)/.test(text)) return text
  try {
    return parseExact(text)
  } catch {
    return text
  }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : exactText(value)
}

/** A text as a number; undefined for any other text. */
function scoreOf(text: string | null): number | null | undefined {
  if (text === null) return null
  const score = Number(text.replace(',', '.'))
  return Number.isFinite(score) ? score : undefined
}

function Fields({ feedback }: { feedback: Feedback | undefined }) {
  const list = useId()
  const keys = useFeedbackKeys(feedback === undefined).data ?? []
  return (
    <>
      <label>
        Key
        <Field
          name="key"
          required
          list={list}
          defaultValue={feedback?.key ?? ''}
          disabled={feedback !== undefined}
          autoFocus={feedback === undefined}
        />
        <datalist id={list}>
          {keys.map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
      </label>
      <label>
        Score
        <Field name="score" inputMode="decimal" defaultValue={shown(feedback?.score)} />
      </label>
      <label>
        Value
        <Field name="value" defaultValue={shown(feedback?.value)} />
      </label>
      <label className={css['wide']}>
        Comment
        <textarea name="comment" rows={2} defaultValue={shown(feedback?.comment)} />
      </label>
      <label className={css['wide']}>
        Correction, as text or JSON
        <textarea name="correction" rows={2} defaultValue={shown(feedback?.correction)} />
      </label>
    </>
  )
}

/** The form for one feedback record. The key of an existing record cannot be changed. */
export function FeedbackForm({
  feedback,
  isBusy,
  save,
  close,
}: {
  feedback?: Feedback
  isBusy: boolean
  save(key: string, judgement: Judgement): void
  close(): void
}) {
  const [fault, setFault] = useState<string | undefined>()
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const score = scoreOf(textOf(form, 'score'))
    if (score === undefined) return setFault('The score is a number, as 0.5, or empty.')
    setFault(undefined)
    save(feedback?.key ?? textOf(form, 'key') ?? '', {
      score,
      value: textOf(form, 'value'),
      comment: textOf(form, 'comment'),
      correction: correctionOf(textOf(form, 'correction')),
    })
  }
  return (
    <form
      className={css['form']}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        close()
      }}
      aria-label={feedback === undefined ? 'New feedback' : `Feedback ${feedback.key}`}
    >
      <Fields feedback={feedback} />
      {fault !== undefined && (
        <p className={`${css['wide']} ${css['fault']}`} role="alert">
          {fault}
        </p>
      )}
      <div className={`${css['wide']} ${css['actions']}`}>
        <Button type="submit" look="primary" disabled={isBusy}>
          Save
        </Button>
        <Button look="plain" onClick={close}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
