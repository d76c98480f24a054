import { useState } from 'react'
import type { MemberRead } from '../../../api/platform.gen.ts'
import { usePermission, useSession } from '../../../data/session.ts'
import { useMemberChanges, useMembers } from '../../../data/settings/organization.ts'
import { Button, Field, IconButton, Select } from '../../../parts/controls.tsx'
import { ChangeForm } from '../../../parts/forms/change-form.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { ManagedChip } from '../../../parts/forms/managed.tsx'
import { Loaded } from '../../../parts/states.tsx'
import { CHANGE, Table } from '../../../parts/table/table.tsx'
import { Confirm } from '../../../parts/forms/confirm.tsx'
import { ROLE_OPTIONS, type RoleName } from '../role-names.ts'
import { InviteDialog, Invites } from './invites.tsx'
import { ScimTokens } from './scim-tokens.tsx'
import { Locked, SettingsSection } from '../section.tsx'
import css from '../settings.module.css'
import { readWorkspaces, WorkspaceChoice } from '../workspace-choice.tsx'

function MemberDialog({ member, close }: { member: MemberRead | undefined; close(): void }) {
  const { add, change } = useMemberChanges()
  const { data: session } = useSession()
  const [role, setRole] = useState<RoleName>(member?.role ?? 'user')
  const { error, isPending } = member === undefined ? add : change
  const submit = (form: FormData): void => {
    const full_name = String(form.get('full_name') ?? '').trim() || null
    const common = { full_name, role, workspace_ids: readWorkspaces(form) }
    if (member === undefined)
      add.mutate({ ...common, email: String(form.get('email') ?? '') }, { onSuccess: close })
    else
      change.mutate({ ...common, id: member.user_id, override: form.has('override') }, { onSuccess: close })
  }
  const title = member === undefined ? 'New member' : `Change ${member.email}`
  return (
    <Dialog title={title} close={close}>
      <ChangeForm
        label={title}
        change={{ error, isPending }}
        managed={member?.managed}
        submit={submit}
        close={close}
      >
        {member === undefined && (
          <label className="wide">
            Email
            <Field name="email" type="email" required maxLength={320} autoFocus />
          </label>
        )}
        <label>
          Full name
          <Field name="full_name" maxLength={256} defaultValue={member?.full_name ?? ''} />
        </label>
        <label>
          Role
          <Select label="Role" value={role} options={ROLE_OPTIONS} onChange={(word) => setRole(word)} />
        </label>
        <WorkspaceChoice workspaces={session?.workspaces ?? []} chosen={member?.workspace_ids ?? null} />
      </ChangeForm>
    </Dialog>
  )
}

function RemoveDialog({ member, close }: { member: MemberRead; close(): void }) {
  const { remove } = useMemberChanges()
  return (
    <Confirm
      title={`Remove ${member.email}`}
      action="Remove the member"
      change={remove}
      managed={member.managed}
      confirm={(override) => remove.mutate({ id: member.user_id, override }, { onSuccess: close })}
      close={close}
    >
      The personal tokens of this member are revoked. Service keys stay.
    </Confirm>
  )
}

type Opened = { form: MemberRead | undefined } | { removed: MemberRead } | 'invitation'

function MemberRow({
  member,
  reason,
  open,
}: {
  member: MemberRead
  reason: string | undefined
  open(opened: Opened): void
}) {
  const { data: session } = useSession()
  const { email, full_name, role, workspace_ids, managed } = member
  const names = workspace_ids?.map(
    (id) => session?.workspaces.find((one) => one.id === id)?.display_name ?? id,
  )
  const button = (label: string) => ({ label: reason ?? `${label} ${email}`, disabled: reason !== undefined })
  return (
    <tr>
      <th scope="row">
        {full_name ?? email} <ManagedChip managed={managed} />
        {full_name !== null && <small className={css['part']}>{email}</small>}
      </th>
      <td>{role}</td>
      <td>{names?.join(', ') ?? 'all'}</td>
      <td className={css['buttons']}>
        <IconButton icon="edit" {...button('Change')} onClick={() => open({ form: member })} />
        <IconButton icon="remove" {...button('Remove')} onClick={() => open({ removed: member })} />
      </td>
    </tr>
  )
}

/** The members of the organization: list, add, change, remove. */
export function Members() {
  const reading = usePermission('organization:read')
  const { reason } = usePermission('organization:manage')
  const found = useMembers(reading.isAllowed)
  const [opened, open] = useState<Opened>()
  const locked = { disabled: reason !== undefined, title: reason }
  const buttons = (
    <div className={css['actions']}>
      <Button icon="plus" {...locked} onClick={() => open('invitation')}>
        Invite
      </Button>
      <Button {...locked} onClick={() => open({ form: undefined })}>
        Add a member
      </Button>
    </div>
  )
  const close = (): void => open(undefined)
  return (
    <SettingsSection
      title="Members"
      about="People of the organization. What a role may do is under Roles; a member signs in at a provider, or with a personal token."
      action={buttons}
    >
      {reading.isAllowed ? (
        <Loaded from={found}>
          {(members) =>
            members.length === 0 ? (
              <p className={css['none']}>Nobody has been added yet.</p>
            ) : (
              <Table label="The members" columns={['Member', 'Role', 'Workspaces', CHANGE]}>
                {members.map((member) => (
                  <MemberRow key={member.user_id} member={member} reason={reason} open={open} />
                ))}
              </Table>
            )
          }
        </Loaded>
      ) : (
        <Locked reason={reading.reason ?? ''} />
      )}
      <Invites isAllowed={reason === undefined} />
      <ScimTokens isAllowed={reason === undefined} />
      {opened === 'invitation' && <InviteDialog close={close} />}
      {typeof opened === 'object' && 'form' in opened && <MemberDialog member={opened.form} close={close} />}
      {typeof opened === 'object' && 'removed' in opened && (
        <RemoveDialog member={opened.removed} close={close} />
      )}
    </SettingsSection>
  )
}
