import { useState } from 'react'
import type { WorkspaceRead } from '../../api/platform.gen.ts'
import { usePermission, useSession } from '../../data/session.ts'
import { useWorkspaceChanges, useWorkspaces } from '../../data/settings/organization.ts'
import { Button, Chip, CopyButton, Field, IconButton } from '../../parts/controls.tsx'
import { ChangeForm } from '../../parts/forms/change-form.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { ManagedChip } from '../../parts/forms/managed.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Locked, SettingsSection } from './section.tsx'
import css from './settings.module.css'

const ALL_WORKSPACES = 'This needs a key of all workspaces'

function NameDialog({ workspace, close }: { workspace: WorkspaceRead | undefined; close(): void }) {
  const { save } = useWorkspaceChanges()
  const submit = (form: FormData): void => {
    const display_name = String(form.get('name') ?? '')
    const changed = workspace && { id: workspace.id, override: form.has('override') }
    save.mutate({ ...changed, display_name }, { onSuccess: close })
  }
  const title = workspace === undefined ? 'New workspace' : `Rename ${workspace.display_name}`
  return (
    <Dialog title={title} close={close}>
      <ChangeForm label={title} change={save} managed={workspace?.managed} submit={submit} close={close}>
        <label className="wide">
          Name
          <Field name="name" required maxLength={128} defaultValue={workspace?.display_name} autoFocus />
        </label>
      </ChangeForm>
    </Dialog>
  )
}

function DeleteDialog({ workspace, close }: { workspace: WorkspaceRead; close(): void }) {
  const { remove } = useWorkspaceChanges()
  return (
    <Confirm
      title={`Delete the workspace ${workspace.display_name}`}
      action="Delete it"
      change={remove}
      managed={workspace.managed}
      confirm={(override) => remove.mutate({ id: workspace.id, override }, { onSuccess: close })}
      close={close}
    >
      It can no longer be read or written. Its data stays on disk, and its usage stays in reports.
    </Confirm>
  )
}

type Opened = { name: WorkspaceRead | undefined } | { deleted: WorkspaceRead }

function WorkspaceRow({ workspace, open }: { workspace: WorkspaceRead; open(opened: Opened): void }) {
  const { reason } = usePermission('workspaces:manage')
  const { data: session } = useSession()
  const { id, display_name, created_at, managed } = workspace
  const button = (label: string) => ({
    label: reason ?? `${label} ${display_name}`,
    disabled: reason !== undefined,
  })
  return (
    <tr>
      <th scope="row">
        <Link to={`/projects?ws=${id}`}>{display_name}</Link>{' '}
        {session?.default_workspace_id === id && <Chip>shown now</Chip>} <ManagedChip managed={managed} />
      </th>
      <td>
        <code>{id}</code> <CopyButton text={id} />
      </td>
      <td>
        <Time time={created_at} />
      </td>
      <td className={css['buttons']}>
        <IconButton icon="edit" {...button('Rename')} onClick={() => open({ name: workspace })} />
        <IconButton icon="remove" {...button('Delete')} onClick={() => open({ deleted: workspace })} />
      </td>
    </tr>
  )
}

/** The workspaces: list, create, rename, delete. */
export function Workspaces() {
  const reading = usePermission('workspaces:read')
  const managing = usePermission('workspaces:manage')
  const { data: session } = useSession()
  const found = useWorkspaces()
  const [opened, open] = useState<Opened>()
  const reason = managing.reason ?? (session?.all_workspaces === true ? undefined : ALL_WORKSPACES)
  const button = (
    <Button
      icon="plus"
      disabled={reason !== undefined}
      title={reason}
      onClick={() => open({ name: undefined })}
    >
      Create a workspace
    </Button>
  )
  const close = (): void => open(undefined)
  return (
    <SettingsSection
      title="Workspaces"
      about="Nothing of one workspace is seen from another. Clients name one with X-Tenant-Id or LANGSMITH_WORKSPACE_ID."
      action={button}
    >
      {reading.isAllowed ? (
        <Loaded from={found}>
          {(workspaces) => (
            <Table label="The workspaces" columns={['Name', 'Id', 'Created', CHANGE]}>
              {workspaces.map((workspace) => (
                <WorkspaceRow key={workspace.id} workspace={workspace} open={open} />
              ))}
            </Table>
          )}
        </Loaded>
      ) : (
        <Locked reason={reading.reason ?? ''} />
      )}
      {opened !== undefined && 'name' in opened && <NameDialog workspace={opened.name} close={close} />}
      {opened !== undefined && 'deleted' in opened && (
        <DeleteDialog workspace={opened.deleted} close={close} />
      )}
    </SettingsSection>
  )
}
