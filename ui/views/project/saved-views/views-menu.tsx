import { useId, useRef, useState } from 'react'
import { clauseText, splitFilter } from '../../../data/filter/filter.ts'
import { filtersOf, readHistory } from '../../../data/filter/history.ts'
import { contentOf, showsView, type ViewContent, viewPath } from '../../../data/filter/view-address.ts'
import { usePermission } from '../../../data/session.ts'
import { type SavedView, useViewChanges, useViews } from '../../../data/filter/views.ts'
import { Button, Field, IconButton } from '../../../parts/controls.tsx'
import { readKept } from '../../../parts/preferences.ts'
import { Failure, Loaded } from '../../../parts/states.tsx'
import { Link } from '../../../router/link.tsx'
import { withParams } from '../../../router/params.ts'
import css from './views-menu.module.css'

const contentOfView = ({ filter_string, params }: SavedView): ViewContent => ({
  filter: filter_string ?? '',
  params: params as Record<string, string>,
})

function ViewRow({
  project,
  view,
  changes: { replace, remove },
  reason,
  close,
}: {
  project: string
  view: SavedView
  changes: ReturnType<typeof useViewChanges>
  reason: string | undefined
  close(): void
}) {
  const content = contentOfView(view)
  const isOpen = showsView(location.search, content)
  const isLocked = reason !== undefined
  return (
    <li>
      <Link
        to={viewPath(project, content)}
        aria-current={isOpen ? 'true' : undefined}
        title={content.filter === '' ? 'No filter' : content.filter}
        onClick={close}
      >
        {view.display_name}
      </Link>
      {!isOpen && (
        <IconButton
          icon="edit"
          label={reason ?? `Replace ${view.display_name} by what is shown now`}
          disabled={isLocked || replace.isPending}
          onClick={() => replace.mutate({ view_id: view.id, ...contentOf(location.search) })}
        />
      )}
      <IconButton
        icon="remove"
        label={reason ?? `Delete ${view.display_name}`}
        disabled={isLocked || remove.isPending}
        onClick={() => remove.mutate(view.id)}
      />
    </li>
  )
}

function History({ project, close }: { project: string; close(): void }) {
  const filters = filtersOf(readHistory(readKept('filters')), project)
  if (filters.length === 0) return null
  return (
    <>
      <h2>Filters before</h2>
      <ul className={css['rows']} aria-label="Filters before">
        {filters.map((filter) => (
          <li key={filter}>
            <Link
              to={`/projects/${project}${withParams(location.search, { q: filter, peek: undefined })}`}
              title={filter}
              onClick={close}
            >
              {splitFilter(filter).map(clauseText).join(', ')}
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

function Menu({ project, close }: { project: string; close(): void }) {
  const views = useViews(project, true)
  const changes = useViewChanges(project)
  const { reason } = usePermission('projects:create')
  const error = changes.save.error ?? changes.replace.error ?? changes.remove.error
  return (
    <>
      <form
        className={css['save']}
        aria-label="Save this view"
        onSubmit={(event) => {
          event.preventDefault()
          const form = event.currentTarget
          const name = String(new FormData(form).get('name') ?? '').trim()
          const save = { name, ...contentOf(location.search) }
          if (name !== '') changes.save.mutate(save, { onSuccess: () => form.reset() })
        }}
      >
        <Field
          name="name"
          required
          maxLength={100}
          aria-label="Name of the view"
          placeholder="Name of what is shown"
        />
        <Button type="submit" disabled={reason !== undefined || changes.save.isPending} title={reason}>
          Save
        </Button>
      </form>
      {error !== null && <Failure error={error} />}
      <Loaded from={views}>
        {(found) =>
          found.length === 0 ? (
            <p className={css['note']}>
              A view keeps the filter, range, order and columns. Everybody in the workspace sees it.
            </p>
          ) : (
            <ul className={css['rows']} aria-label="Saved views">
              {found.map((view) => (
                <ViewRow key={view.id} {...{ project, view, changes, reason, close }} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <History project={project} close={close} />
    </>
  )
}

/** The menu of the saved views of a project, and of the filters that were used in this browser. */
export function ViewsMenu({ project }: { project: string }) {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button look="plain" icon="fold" popoverTarget={id}>
        Views
      </Button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        className={css['menu']}
        role="group"
        aria-label="Views"
        onToggle={(event) => setOpen(event.newState === 'open')}
      >
        {isOpen && <Menu project={project} close={() => menu.current?.hidePopover()} />}
      </div>
    </>
  )
}
