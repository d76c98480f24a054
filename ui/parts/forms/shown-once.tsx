import type { ReactNode } from 'react'
import { Button, CopyButton } from '../controls.tsx'
import dialog from './dialog.module.css'
import css from './shown-once.module.css'

/** Texts that are shown until the dialog is closed, and never again; `values` has the names of their copy buttons. */
export function ShownOnce({
  children,
  values,
  close,
}: {
  children: ReactNode
  values: readonly { text: string; copy: string }[]
  close(): void
}) {
  return (
    <>
      <p>{children}</p>
      {values.map(({ text, copy }) => (
        <div key={copy} className={css['secret']}>
          <code>{text}</code>
          <CopyButton text={text} label={copy} />
        </div>
      ))}
      <div className={dialog['actions']}>
        <Button look="primary" onClick={close}>
          Done
        </Button>
      </div>
    </>
  )
}
