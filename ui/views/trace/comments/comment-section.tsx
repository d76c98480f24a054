import { useState } from 'react'
import { useCommentChanges } from '../../../data/comments/comment-changes.ts'
import { type Comment, useComments } from '../../../data/comments/comments.ts'
import { usePeople } from '../../../data/comments/people.ts'
import { mentionParts } from '../../../data/comments/mentions.ts'
import type { ReadRun } from '../../../data/runs.ts'
import { usePermission } from '../../../data/session.ts'
import { Button, IconButton } from '../../../parts/controls.tsx'
import { Failure, Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { RunSection } from '../run/section.tsx'
import { CommentForm } from './comment-form.tsx'
import css from './comments.module.css'

type Changes = ReturnType<typeof useCommentChanges>

/** The text of a comment, with the names of those whom it mentions marked. */
function Text({ comment: { text, mentions } }: { comment: Comment }) {
  const people = usePeople(mentions.length > 0).data ?? []
  const known = people.filter(({ id }) => mentions.includes(id))
  return (
    <p className={css['text']} dir="auto">
      {mentionParts(text, known).map((part, place) =>
        part.person === undefined ? part.text : <b key={place}>{part.text}</b>,
      )}
    </p>
  )
}

function Row({ comment, changes: { change, remove } }: { comment: Comment; changes: Changes }) {
  const [isEdited, setEdited] = useState(false)
  const writing = usePermission('runs:create')
  const deleting = usePermission('runs:delete')
  const { id, author, created_at, edited_at, is_own } = comment
  const mayDelete = is_own ? writing.isAllowed : deleting.isAllowed
  if (isEdited)
    return (
      <li>
        <CommentForm
          label="Edit the comment"
          text={comment.text}
          isBusy={change.isPending}
          save={(text) => change.mutate({ id, ...text }, { onSuccess: () => setEdited(false) })}
          close={() => setEdited(false)}
        />
        {change.error !== null && <Failure error={change.error} />}
      </li>
    )
  return (
    <li className={css['comment']}>
      <div className={css['head']}>
        <b>{author}</b>
        <span className={css['note']}>
          <Time time={created_at} />
          {edited_at !== null && ', edited'}
        </span>
        {is_own && writing.isAllowed && (
          <IconButton icon="edit" label="Edit the comment" onClick={() => setEdited(true)} />
        )}
        {mayDelete && (
          <IconButton
            icon="remove"
            label="Delete the comment"
            disabled={remove.isPending}
            onClick={() => remove.mutate(id)}
          />
        )}
      </div>
      <Text comment={comment} />
      {remove.error !== null && <Failure error={remove.error} />}
    </li>
  )
}

function Add({ run, changes: { add } }: { run: ReadRun; changes: Changes }) {
  const [isOpen, setOpen] = useState(false)
  const { isAllowed, reason } = usePermission('runs:create')
  if (!isOpen)
    return (
      <div>
        <Button icon="plus" disabled={!isAllowed} title={reason} onClick={() => setOpen(true)}>
          Comment
        </Button>
      </div>
    )
  return (
    <>
      <CommentForm
        label="New comment"
        isBusy={add.isPending}
        save={(text) => add.mutate({ run_id: run.id, ...text }, { onSuccess: () => setOpen(false) })}
        close={() => setOpen(false)}
      />
      {add.error !== null && <Failure error={add.error} />}
    </>
  )
}

/** The comments on a run, and the forms that add, change and delete one's own. */
export function CommentSection({ run }: { run: ReadRun }) {
  const found = useComments(run.trace_id)
  const changes = useCommentChanges(run.trace_id)
  const own = found.data?.filter(({ run_id }) => run_id === run.id) ?? []
  return (
    <RunSection key={String(own.length > 0)} title="Comments" note={own.length || ''} isOpen={own.length > 0}>
      <Loaded from={found}>
        {() => (
          <ul className={css['comments']}>
            {own.map((comment) => (
              <Row key={comment.id} comment={comment} changes={changes} />
            ))}
          </ul>
        )}
      </Loaded>
      <Add run={run} changes={changes} />
    </RunSection>
  )
}
