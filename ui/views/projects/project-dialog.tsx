import { useProjectSave } from '../../data/projects/projects.ts'
import { Field } from '../../parts/controls.tsx'
import { ChangeForm } from '../../parts/forms/change-form.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
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
  const submit = (form: FormData): void => {
    const text = (name: string): string => String(form.get(name) ?? '').trim()
    save.mutate(
      { id: project.id, name: text('name'), description: text('description') },
      { onSuccess: saved },
    )
  }
  const title = project.id === undefined ? 'New project' : `Edit ${project.name}`
  return (
    <Dialog title={title} close={close}>
      <ChangeForm label={title} change={save} submit={submit} close={close}>
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
