import { useState } from 'react'
import { useProjectDeletion, useProjectSave } from '../../data/projects/projects.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { ChangeForm } from '../../parts/forms/change-form.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import css from './projects.module.css'

/** The initial values of the form of a project; without an id the form creates a project. */
export interface EditedProject {
  id?: string
  name: string
  description: string
}

/** Deletes a project once its name has been typed. */
function DeleteProject({ id, name, close }: { id: string; name: string; close(): void }) {
  const change = useProjectDeletion()
  const [typed, type] = useState('')
  const title = `Delete ${name}`
  return (
    <Dialog title={title} close={close}>
      <ChangeForm
        label={title}
        action="Delete"
        change={change.isPending || typed === name ? change : { ...change, isPending: true }}
        submit={() => change.mutate(id, { onSuccess: close })}
        close={close}
      >
        <p className="wide">
          All of its traces are deleted, with feedback, attachments and saved views. This cannot be undone.
          Usage counts stay, and clients that still send to <b>{name}</b> make a new project.
        </p>
        <label className="wide">
          Name of the project, to confirm
          <Field required value={typed} onChange={({ target }) => type(target.value)} />
        </label>
      </ChangeForm>
    </Dialog>
  )
}

/** Creates, renames or deletes a project. `saved` is called with its id. */
export function ProjectDialog({
  project,
  saved,
  close,
}: {
  project: EditedProject
  saved(id: string): void
  close(): void
}) {
  const save = useProjectSave()
  const [isDeleting, setDeleting] = useState(false)
  const { isAllowed, reason } = usePermission('runs:delete')
  const submit = (form: FormData): void => {
    const text = (name: string): string => String(form.get(name) ?? '').trim()
    save.mutate(
      { id: project.id, name: text('name'), description: text('description') },
      { onSuccess: saved },
    )
  }
  const title = project.id === undefined ? 'New project' : `Edit ${project.name}`
  if (isDeleting && project.id !== undefined)
    return <DeleteProject id={project.id} name={project.name} close={close} />
  const deletes = project.id !== undefined && (
    <Button disabled={!isAllowed} title={reason} onClick={() => setDeleting(true)}>
      Delete the project
    </Button>
  )
  return (
    <Dialog title={title} close={close}>
      <ChangeForm label={title} change={save} submit={submit} close={close} buttons={deletes}>
        <label className="wide">
          Name
          <Field name="name" required maxLength={200} defaultValue={project.name} autoFocus />
        </label>
        <label className="wide">
          Description
          <Field name="description" maxLength={1000} defaultValue={project.description} />
        </label>
        <p className={`wide ${css['note']}`}>
          {project.id === undefined
            ? 'A project is also made by the first run that names it.'
            : 'Clients that name the old name make a new project: change it there too.'}
        </p>
      </ChangeForm>
    </Dialog>
  )
}
