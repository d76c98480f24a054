import css from './settings.module.css'

const NAME = 'workspaces'

/** The chosen workspaces of a form; null, which means all, if none is ticked. */
export function readWorkspaces(form: FormData): string[] | null {
  const ids = form.getAll(NAME).map(String)
  return ids.length === 0 ? null : ids
}

/** Boxes to tick for workspaces; drawn only if there are several workspaces. */
export function WorkspaceChoice({
  workspaces,
  chosen = null,
}: {
  workspaces: readonly { id: string; display_name: string }[]
  chosen?: readonly string[] | null
}) {
  if (workspaces.length < 2) return null
  return (
    <fieldset className={`wide ${css['group']}`}>
      <legend>Workspaces; none ticked is all, also later ones</legend>
      <div className={css['boxes']}>
        {workspaces.map(({ id, display_name }) => (
          <label key={id} className={css['check']}>
            <input type="checkbox" name={NAME} value={id} defaultChecked={chosen?.includes(id) === true} />{' '}
            {display_name}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
