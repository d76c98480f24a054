import { type ReactNode, useEffect, useId, useRef } from 'react'
import { IconButton } from '../controls.tsx'
import css from './dialog.module.css'

/**
 * A modal dialog of the browser. The first field of a form gets the focus, Escape closes the dialog, and the
 * focus stays inside until it closes and returns to where it was.
 */
export function Dialog({
  title,
  isBare = false,
  close,
  children,
}: {
  title: string
  /** The title is not visible; it is for screen readers only. */
  isBare?: boolean
  close(): void
  children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog === null || dialog.open) return
    dialog.showModal()
    // The platform would focus the button in the head; `autoFocus` of React acts before the dialog is shown.
    dialog.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus()
  }, [])
  return (
    <dialog
      ref={ref}
      className={css['dialog']}
      aria-labelledby={id}
      onClose={close}
      onClick={(event) => event.target === ref.current && close()}
    >
      <div className={isBare ? 'out-of-sight' : css['head']}>
        <h2 id={id}>{title}</h2>
        {!isBare && <IconButton icon="close" label="Close" onClick={close} />}
      </div>
      {isBare ? children : <div className={css['body']}>{children}</div>}
    </dialog>
  )
}
