import { useState } from 'react'
import type { Invite } from '../../../api/platform.gen.ts'
import { useSession } from '../../../data/session.ts'
import { useInviteChanges, useInvites } from '../../../data/settings/invites.ts'
import { useSignInWays } from '../../../data/sign-in.ts'
import { Field, IconButton, Select } from '../../../parts/controls.tsx'
import { ChangeForm } from '../../../parts/forms/change-form.tsx'
import { Confirm } from '../../../parts/forms/confirm.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { ShownOnce } from '../../../parts/forms/shown-once.tsx'
import { Failure } from '../../../parts/states.tsx'
import { CHANGE, Table } from '../../../parts/table/table.tsx'
import { Time } from '../../../parts/time.tsx'
import { ROLE_OPTIONS, type RoleName } from '../role-names.ts'
import css from '../settings.module.css'
import { readWorkspaces, WorkspaceChoice } from '../workspace-choice.tsx'

/** The link of an invitation. */
function Link({ url, close }: { url: string; close(): void }) {
  return (
    <ShownOnce values={[{ text: url, copy: 'Copy the link' }]} close={close}>
      Send this link to the person. It works once; it is shown only now, and a new one can be made later.
    </ShownOnce>
  )
}

/** The form of an invitation; after that its link, which is shown only once. */
export function InviteDialog({ close }: { close(): void }) {
  const { create } = useInviteChanges()
  const { data: session } = useSession()
  const { data: ways } = useSignInWays()
  const [role, setRole] = useState<RoleName>('user')
  const needsEmail = (ways?.providers.length ?? 0) > 0
  const submit = (form: FormData): void => {
    const email = String(form.get('email') ?? '').trim()
    create.mutate({ email: email || null, role, workspace_ids: readWorkspaces(form) })
  }
  return (
    <Dialog title="Invite" close={close}>
      {create.data === undefined ? (
        <ChangeForm label="Invite" change={create} submit={submit} action="Make the link" close={close}>
          <label className="wide">
            {needsEmail ? 'Email, verified by the provider' : 'Email; empty is whoever has the link'}
            <Field name="email" type="email" required={needsEmail} maxLength={254} autoFocus />
          </label>
          <label>
            Role
            <Select label="Role" value={role} options={ROLE_OPTIONS} onChange={(word) => setRole(word)} />
          </label>
          <WorkspaceChoice workspaces={session?.workspaces ?? []} />
        </ChangeForm>
      ) : (
        <Link url={create.data.url} close={close} />
      )}
    </Dialog>
  )
}

/** Makes a new link, after which the earlier one does not work. */
function RenewDialog({ invite, close }: { invite: Invite; close(): void }) {
  const { renew } = useInviteChanges()
  if (renew.data === undefined)
    return (
      <Confirm
        title="Make a new link"
        action="Make the link"
        change={renew}
        confirm={() => renew.mutate(invite.id)}
        close={close}
      >
        The earlier link of {invite.email ?? 'this invitation'} then does not work any more.
      </Confirm>
    )
  return (
    <Dialog title="Make a new link" close={close}>
      <Link url={renew.data.url} close={close} />
    </Dialog>
  )
}

/** Invitations that wait: new links, revoking. Draws nothing without any. */
export function Invites({ isAllowed }: { isAllowed: boolean }) {
  const found = useInvites(isAllowed)
  const { revoke } = useInviteChanges()
  const [renewed, renew] = useState<Invite>()
  if (found.error !== null) return <Failure error={found.error} />
  if (found.data === undefined || found.data.length === 0) return null
  return (
    <>
      <h3>Invited</h3>
      {revoke.error !== null && <Failure error={revoke.error} />}
      <Table label="Invitations" columns={['Email', 'Role', 'Link works until', CHANGE]}>
        {found.data.map((invite) => {
          const who = invite.email ?? 'whoever has the link'
          return (
            <tr key={invite.id}>
              <th scope="row">{who}</th>
              <td>{invite.role}</td>
              <td>
                <Time time={invite.expires_at} />
              </td>
              <td className={css['buttons']}>
                <IconButton icon="refresh" label={`New link for ${who}`} onClick={() => renew(invite)} />
                <IconButton icon="remove" label={`Revoke ${who}`} onClick={() => revoke.mutate(invite.id)} />
              </td>
            </tr>
          )
        })}
      </Table>
      {renewed !== undefined && <RenewDialog invite={renewed} close={() => renew(undefined)} />}
    </>
  )
}
