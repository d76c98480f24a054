import type { ReactNode } from 'react'
import { Button } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { Failure } from '../../parts/states.tsx'
import css from './settings.module.css'

/** A dialog to confirm a removal that cannot be undone. */
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
