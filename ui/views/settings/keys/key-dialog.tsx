import { useState } from 'react'
import { useSession } from '../../../data/session.ts'
import { type KeyKind, useKeyChanges } from '../../../data/settings/keys.ts'
import { Field, Select } from '../../../parts/controls.tsx'
import { ChangeForm } from '../../../parts/forms/change-form.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { ShownOnce } from '../../../parts/forms/shown-once.tsx'
import { readPreference } from '../../../parts/preferences.ts'
import { isoOfLocal } from '../../../parts/format/times.ts'
import { ROLE_OPTIONS, type RoleName } from '../role-names.ts'
import css from '../settings.module.css'
import { readWorkspaces, WorkspaceChoice } from '../workspace-choice.tsx'

/** The form of a new key; after that the new key, which is shown only once. */
export function KeyDialog({ kind, close }: { kind: KeyKind; close(): void }) {
  const { create } = useKeyChanges(kind)
  const { data: session } = useSession()
  const [role, setRole] = useState<RoleName>(kind === 'service' ? 'user' : (session?.role ?? 'user'))
  const submit = (form: FormData): void => {
    const expires_at = isoOfLocal(form.get('expires_at'), readPreference('zone'))
    create.mutate({
      description: String(form.get('description') ?? ''),
      role,
      read_only: form.has('read_only'),
      workspaces: readWorkspaces(form),
      ...(expires_at !== '' && { expires_at }),
    })
  }
  const title = kind === 'service' ? 'New service key' : 'New personal token'
  if (create.data !== undefined)
    return (
      <Dialog title={title} close={close}>
        <ShownOnce values={[{ text: create.data.key, copy: 'Copy the key' }]} close={close}>
          Copy the key now: it is shown only this once, and only its hash is stored.
        </ShownOnce>
      </Dialog>
    )
  return (
    <Dialog title={title} close={close}>
      <ChangeForm label={title} change={create} submit={submit} action="Create" close={close}>
        <label className="wide">
          Name, for whom or what it is
          <Field name="description" required maxLength={256} autoFocus />
        </label>
        <label>
          Role
          <Select label="Role" value={role} options={ROLE_OPTIONS} onChange={(word) => setRole(word)} />
        </label>
        <label>
          Expires; empty is never
          <Field name="expires_at" type="datetime-local" step={1} />
        </label>
        <label className={css['check']}>
          <input type="checkbox" name="read_only" /> May only read
        </label>
        <WorkspaceChoice workspaces={session?.workspaces ?? []} />
      </ChangeForm>
    </Dialog>
  )
}
