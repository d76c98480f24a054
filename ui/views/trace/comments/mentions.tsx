import { useState } from 'react'
import { useMentions } from '../../../data/comments/people.ts'
import { IconButton } from '../../../parts/controls.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { readKept, writeKept } from '../../../parts/preferences.ts'
import { Empty, Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { Link } from '../../../router/link.tsx'
import css from './comments.module.css'

/** A button with a dot while a mention is newer than those that this browser has shown; it opens the list. */
export function Mentions() {
  const [isOpen, setOpen] = useState(false)
  const newest = useMentions(true).data?.[0]?.created_at ?? ''
  const isNew = newest > readKept('mentions-seen')
  const open = (): void => {
    writeKept('mentions-seen', newest)
    setOpen(true)
  }
  return (
    <>
      <span className={css['bell']} data-new={isNew}>
        <IconButton icon="prompt" label={isNew ? 'Mentions: new ones' : 'Mentions'} onClick={open} />
      </span>
      {isOpen && <MentionList close={() => setOpen(false)} />}
    </>
  )
}

/** The comments that mention the user, newest first. */
function MentionList({ close }: { close(): void }) {
  const found = useMentions(true)
  return (
    <Dialog title="Mentions" close={close}>
      <Loaded from={found}>
        {(comments) =>
          comments.length === 0 ? (
            <Empty title="Nobody has mentioned you yet">
              <p>Comments on runs mention a member with @ and the name.</p>
            </Empty>
          ) : (
            <ul className={css['mentions']}>
              {comments.map(({ id, trace_id, run_id, author, created_at, text }) => (
                <li key={id}>
                  <Link to={`/traces/${trace_id}?run=${run_id}`} onClick={close}>
                    {author}
                  </Link>{' '}
                  <span className={css['note']}>
                    <Time time={created_at} />
                  </span>
                  <p className={css['text']} dir="auto">
                    {text}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  )
}
