import { useState } from 'react'
import { type Feedback, type Judgement, useFeedback, useFeedbackChanges } from '../../../data/feedback.ts'
import type { ReadRun } from '../../../data/runs.ts'
import { usePermission } from '../../../data/session.ts'
import { Button, IconButton } from '../../../parts/controls.tsx'
import { exactText } from '../../../parts/json/json-text.ts'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { PlainText } from '../../../parts/markdown/markdown.tsx'
import { Failure, Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { FeedbackForm } from './feedback-form.tsx'
import css from './run.module.css'
import { RunSection } from './section.tsx'

type Changes = ReturnType<typeof useFeedbackChanges>

function shownValue(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'string' ? value : exactText(value, 0)
}

function sourceOf({ feedback_source }: Feedback): string | undefined {
  const type = feedback_source?.['type']
  return typeof type === 'string' ? type : undefined
}

function Said({ feedback }: { feedback: Feedback }) {
  const { key, score, value, comment, correction, modified_at } = feedback
  return (
    <>
      <span className={css['judged']}>
        <b>{key}</b>
        {score !== null && score !== undefined && <span>{String(score)}</span>}
        {shownValue(value) !== undefined && <span>{shownValue(value)}</span>}
        <span className={css['note']}>
          {sourceOf(feedback)} {modified_at !== undefined && <Time time={modified_at} />}
        </span>
      </span>
      {comment !== null && comment !== undefined && comment !== '' && <PlainText text={comment} />}
      {correction !== null && correction !== undefined && (
        <div>
          <span className={css['note']}>Correction</span>
          {typeof correction === 'string' ? (
            <PlainText text={correction} />
          ) : (
            <JsonView value={correction} path="correction" />
          )}
        </div>
      )}
    </>
  )
}

interface RowProps {
  feedback: Feedback
  changes: Changes
  reason: string | undefined
}

function Row({ feedback, changes: { change, remove }, reason }: RowProps) {
  const [isEdited, setEdited] = useState(false)
  const save = (judgement: Judgement): void =>
    change.mutate({ id: feedback.id, judgement }, { onSuccess: () => setEdited(false) })
  if (isEdited)
    return (
      <li>
        <FeedbackForm
          feedback={feedback}
          isBusy={change.isPending}
          save={(_key, judgement) => save(judgement)}
          close={() => setEdited(false)}
        />
        {change.error !== null && <Failure error={change.error} />}
      </li>
    )
  const isLocked = reason !== undefined || remove.isPending
  return (
    <li>
      <div className={css['judgement']}>
        <div>
          <Said feedback={feedback} />
        </div>
        <IconButton
          icon="edit"
          label={`Edit ${feedback.key}`}
          disabled={isLocked}
          title={reason ?? `Edit ${feedback.key}`}
          onClick={() => setEdited(true)}
        />
        <IconButton
          icon="remove"
          label={`Delete ${feedback.key}`}
          disabled={isLocked}
          title={reason ?? `Delete ${feedback.key}`}
          onClick={() => remove.mutate(feedback.id)}
        />
      </div>
      {remove.error !== null && <Failure error={remove.error} />}
    </li>
  )
}

function Add({ changes: { add }, reason }: Pick<RowProps, 'changes' | 'reason'>) {
  const [isOpen, setOpen] = useState(false)
  const save = (key: string, judgement: Judgement): void =>
    add.mutate({ key, judgement }, { onSuccess: () => setOpen(false) })
  return (
    <>
      {isOpen ? (
        <FeedbackForm isBusy={add.isPending} save={save} close={() => setOpen(false)} />
      ) : (
        <div>
          <Button icon="plus" disabled={reason !== undefined} title={reason} onClick={() => setOpen(true)}>
            Add feedback
          </Button>
        </div>
      )}
      {isOpen && add.error !== null && <Failure error={add.error} />}
    </>
  )
}

/** The feedback of a run, and the forms that add, change and delete it. */
export function FeedbackSection({ run }: { run: ReadRun }) {
  const found = useFeedback(run.id)
  const changes = useFeedbackChanges(run.id)
  const { reason } = usePermission('runs:create')
  const count = found.data?.pages.reduce((sum, { rows }) => sum + rows.length, 0)
  const note = count !== undefined && found.hasNextPage ? `${count} and more` : count
  return (
    <RunSection title="Feedback" note={note} isOpen={(run.parent_run_id ?? null) === null}>
      <Loaded from={found}>
        {({ pages }) => (
          <ul className={css['judgements']}>
            {pages
              .flatMap(({ rows }) => rows)
              .map((feedback) => (
                <Row key={feedback.id} feedback={feedback} changes={changes} reason={reason} />
              ))}
          </ul>
        )}
      </Loaded>
      {found.hasNextPage && (
        <div>
          {found.isFetchNextPageError && <Failure error={found.error} />}
          <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Show more feedback
          </Button>
        </div>
      )}
      <Add changes={changes} reason={reason} />
    </RunSection>
  )
}
