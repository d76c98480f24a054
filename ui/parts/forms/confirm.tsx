import type { ReactNode } from 'react'
import { Button } from '../controls.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from '../states.tsx'
import css from './dialog.module.css'

/** A dialog to confirm a change that acts at once, such as a removal. */
export function Confirm({
  title,
  action,
  change,
  confirm,
  close,
  children,
}: {
  title: string
  /** Text of the button, such as `Revoke it`. */
  action: string
  change: { error: unknown; isPending: boolean }
  confirm(): void
  close(): void
  children: ReactNode
}) {
  return (
    <Dialog title={title} close={close}>
      <p>{children}</p>
      {change.error !== null && <Failure error={change.error} />}
      <div className={css['actions']}>
        <Button look="primary" disabled={change.isPending} onClick={confirm}>
          {action}
        </Button>
        <Button look="plain" onClick={close}>
          Cancel
        </Button>
      </div>
    </Dialog>
  )
}
