import { useState } from 'react'
import { Field } from '../controls.tsx'
import { ChangeForm } from './change-form.tsx'
import { Dialog } from './dialog.tsx'

/** Deletes a project once its name has been typed. */
export function DeleteProject({
  name,
  change,
  remove,
  close,
}: {
  name: string
  change: { error: unknown; isPending: boolean }
  remove(): void
  close(): void
}) {
  const [typed, type] = useState('')
  const title = `Delete ${name}`
  return (
    <Dialog title={title} close={close}>
      <ChangeForm
        label={title}
        action="Delete"
        change={change.isPending || typed === name ? change : { ...change, isPending: true }}
        submit={remove}
        close={close}
      >
        <p className="wide">
          All of its traces are deleted, with feedback, attachments and saved views. This cannot be undone.
          Usage counts stay, and clients that still send to <b>{name}</b> make a new project.
        </p>
        <label className="wide">
          Name of the project, to confirm
          <Field required value={typed} onChange={({ target }) => type(target.value)} autoFocus />
        </label>
      </ChangeForm>
    </Dialog>
  )
}
