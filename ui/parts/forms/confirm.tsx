import { type ReactNode, useState } from 'react'
import { Button } from '../controls.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from '../states.tsx'
import css from './dialog.module.css'
import { isManagedBy, ManagedNote } from './managed.tsx'

/** A dialog to confirm a change that acts at once, such as a removal. */
export function Confirm({
  title,
  action,
  change,
  confirm,
  close,
  managed,
  children,
}: {
  title: string
  /** Text of the button, such as `Revoke it`. */
  action: string
  change: { error: unknown; isPending: boolean }
  confirm(override: boolean): void
  close(): void
  /** A set-up file manages the record: the change then needs a consent, the override. */
  managed?: boolean | undefined
  children: ReactNode
}) {
  const [isAgreed, agree] = useState(false)
  const isManaged = isManagedBy(managed, change.error)
  return (
    <Dialog title={title} close={close}>
      <p>{children}</p>
      {isManaged && <ManagedNote checked={isAgreed} onChange={({ target }) => agree(target.checked)} />}
      {change.error !== null && <Failure error={change.error} />}
      <div className={css['actions']}>
        <Button
          look="primary"
          disabled={change.isPending || (isManaged && !isAgreed)}
          onClick={() => confirm(isAgreed)}
        >
          {action}
        </Button>
        <Button look="plain" onClick={close}>
          Cancel
        </Button>
      </div>
    </Dialog>
  )
}
