import { useState } from 'react'
import { useProjectDeletion } from '../../data/projects/projects.ts'
import { usePermission } from '../../data/session.ts'
import { PROJECTS_PAGE, useRetention, useRetentionChange } from '../../data/settings/server.ts'
import { Button, Field, IconButton } from '../../parts/controls.tsx'
import { ChangeForm } from '../../parts/forms/change-form.tsx'
import { DeleteProject } from '../../parts/forms/delete-project.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { countText } from '../../parts/format/numbers.ts'
import { Loaded } from '../../parts/states.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import { setParams, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { SettingsSection } from './section.tsx'
import { type FilteredProject, SpanFiltersDialog } from './span-filters.tsx'
import css from './settings.module.css'

const SEARCH = textParam('q')
const FROM = textParam('from', '0')

interface Project extends FilteredProject {
  retention_days: number | null
}

function DaysDialog({ project, close }: { project: Project; close(): void }) {
  const change = useRetentionChange()
  const submit = (form: FormData): void => {
    const days = Number(form.get('days') ?? 0)
    change.mutate({ id: project.id, days }, { onSuccess: close })
  }
  return (
    <Dialog title={`Retention of ${project.name}`} close={close}>
      <ChangeForm label="Retention" change={change} submit={submit} close={close}>
        <label className="wide">
          Delete runs this number of days after they were received; 0 or empty keeps them
          <Field
            name="days"
            type="number"
            min={0}
            max={36_500}
            step={1}
            defaultValue={project.retention_days ?? ''}
            autoFocus
          />
        </label>
        <p className={`wide ${css['note']}`}>
          A shorter time deletes older runs soon, and they cannot be restored. Counted usage stays.
        </p>
      </ChangeForm>
    </Dialog>
  )
}

function Deletion({ project, close }: { project: Project; close(): void }) {
  const change = useProjectDeletion()
  const remove = (): void => change.mutate(project.id, { onSuccess: close })
  return <DeleteProject name={project.name} {...{ change, remove, close }} />
}

function Pages({ from, hasMore }: { from: number; hasMore: boolean }) {
  const go = (offset: number): void => setParams({ from: offset === 0 ? undefined : String(offset) })
  if (from === 0 && !hasMore) return null
  return (
    <div className={css['actions']}>
      <Button disabled={from === 0} onClick={() => go(Math.max(0, from - PROJECTS_PAGE))}>
        Newer
      </Button>
      <Button disabled={!hasMore} onClick={() => go(from + PROJECTS_PAGE)}>
        Older
      </Button>
    </div>
  )
}

function filtersText({ span_filters: { length } }: FilteredProject): string {
  if (length === 0) return 'nothing'
  return length === 1 ? '1 filter' : `${length} filters`
}

function ProjectTable({ projects }: { projects: readonly Project[] }) {
  const { reason } = usePermission('projects:create')
  const [changed, change] = useState<Project>()
  const [filtered, filter] = useState<string>()
  const [removed, setRemoved] = useState<Project>()
  const deletion = usePermission('runs:delete')
  const shown = projects.find(({ id }) => id === filtered)
  return (
    <>
      <Table label="Retention by project" columns={['Project', 'Runs are kept', 'Left out', CHANGE]}>
        {projects.map((project) => (
          <tr key={project.id}>
            <th scope="row">
              <Link to={`/projects/${project.id}`}>{project.name}</Link>
            </th>
            <td>
              {project.retention_days === null ? 'for good' : `${countText(project.retention_days)} days`}
            </td>
            <td>
              <button
                type="button"
                className={`${css['value']} ${css['change']}`}
                aria-label={`${filtersText(project)}: change the filters of ${project.name}`}
                title={reason ?? `Change the filters of ${project.name}`}
                disabled={reason !== undefined}
                onClick={() => filter(project.id)}
              >
                {filtersText(project)}
              </button>
            </td>
            <td className={css['buttons']}>
              <IconButton
                icon="edit"
                label={reason ?? `Change the retention of ${project.name}`}
                disabled={reason !== undefined}
                onClick={() => change(project)}
              />
              <IconButton
                icon="remove"
                label={deletion.reason ?? `Delete ${project.name}`}
                disabled={!deletion.isAllowed}
                onClick={() => setRemoved(project)}
              />
            </td>
          </tr>
        ))}
      </Table>
      {changed !== undefined && <DaysDialog project={changed} close={() => change(undefined)} />}
      {removed !== undefined && <Deletion project={removed} close={() => setRemoved(undefined)} />}
      {shown !== undefined && <SpanFiltersDialog project={shown} close={() => filter(undefined)} />}
    </>
  )
}

/** The number of days after which the runs of each project are deleted, and its span filters. */
export function Retention() {
  const search = useParam(SEARCH)
  const from = Math.max(0, Math.floor(Number(useParam(FROM)) || 0))
  const found = useRetention(search, from)
  const field = (
    <Field
      type="search"
      aria-label="Search projects"
      placeholder="Name of a project"
      defaultValue={search}
      onChange={({ target }) => setParams({ q: target.value || undefined, from: undefined })}
    />
  )
  return (
    <SettingsSection
      title="Retention"
      about="How long the runs of each project of this workspace are kept, and which spans are left out."
      action={field}
    >
      <Loaded from={found}>
        {(projects) => (
          <>
            {projects.length === 0 ? (
              <p className={css['note']}>{search === '' ? 'No project yet.' : 'No project has this name.'}</p>
            ) : (
              <ProjectTable projects={projects.slice(0, PROJECTS_PAGE)} />
            )}
            <Pages from={from} hasMore={projects.length > PROJECTS_PAGE} />
          </>
        )}
      </Loaded>
    </SettingsSection>
  )
}
