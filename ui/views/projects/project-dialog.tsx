import type { FormEvent } from 'react'
import { useProjectSave } from '../../data/projects/projects.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/states.tsx'
import css from './projects.module.css'

/** The initial values of the form of a project; without an id the form creates a project. */
export interface EditedProject {
  id?: string
  name: string
  description: string
}

/** Creates or renames a project. `saved` is called with its id. */
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
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string): string => String(form.get(name) ?? '').trim()
    save.mutate(
      { id: project.id, name: text('name'), description: text('description') },
      { onSuccess: saved },
    )
  }
  const title = project.id === undefined ? 'New project' : `Edit ${project.name}`
  return (
    <Dialog title={title} close={close}>
      <form className={css['form']} aria-label={title} onSubmit={submit}>
        <label>
          Name
          <Field name="name" required maxLength={200} defaultValue={project.name} autoFocus />
        </label>
        <label>
          Description
          <Field name="description" maxLength={1000} defaultValue={project.description} />
        </label>
        <p className={css['note']}>
          {project.id === undefined
            ? 'A project is also made by the first run that names it.'
            : 'Clients that name the old name make a new project: change it there too.'}
        </p>
        {save.error !== null && <Failure error={save.error} />}
        <div className={css['actions']}>
          <Button type="submit" look="primary" disabled={save.isPending}>
            Save
          </Button>
          <Button look="plain" onClick={close}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
