import { useState } from 'react'
import type { WorkspaceSecret } from '../../api/platform.gen.ts'
import { usePermission } from '../../data/session.ts'
import { useSecretChanges, useSecrets } from '../../data/settings/secrets.ts'
import { Button, Chip, IconButton } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { SecretForm } from '../../parts/forms/secret-form.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Locked, SettingsSection } from './section.tsx'
import css from './settings.module.css'

const COLUMNS = ['Name', 'Hosts', 'Created', 'Changed', CHANGE]

function SecretRow({ entry, replace, remove }: { entry: WorkspaceSecret; replace(): void; remove(): void }) {
  const { key, hosts, created_at, updated_at } = entry
  return (
    <tr>
      <th scope="row">
        <code>{key}</code>
      </th>
      <td>
        {hosts.map((host) => (
          <Chip key={host}>{host}</Chip>
        ))}
      </td>
      <td>
        <Time time={created_at} />
      </td>
      <td>{updated_at === created_at ? 'not since' : <Time time={updated_at} />}</td>
      <td className={css['buttons']}>
        <IconButton icon="edit" label={`Replace ${key}`} onClick={replace} />
        <IconButton icon="remove" label={`Delete ${key}`} onClick={remove} />
      </td>
    </tr>
  )
}

/** The form of a new secret, or of a new value for `entry`. */
function SecretDialog({ entry, close }: { entry: WorkspaceSecret | undefined; close(): void }) {
  const { put } = useSecretChanges()
  const title = entry === undefined ? 'New secret' : `New value of ${entry.key}`
  return (
    <Dialog title={title} close={close}>
      <p>The value is stored encrypted and never shown again. It is sent to its hosts only.</p>
      <SecretForm
        label={title}
        {...(entry !== undefined && { name: entry.key })}
        hosts={entry?.hosts ?? []}
        change={put}
        save={(secret) => put.mutate(secret, { onSuccess: close })}
        close={close}
      />
    </Dialog>
  )
}

function DeleteDialog({ name, close }: { name: string; close(): void }) {
  const { remove } = useSecretChanges()
  return (
    <Confirm
      title={`Delete the secret ${name}`}
      action="Delete it"
      change={remove}
      confirm={() => remove.mutate(name, { onSuccess: close })}
      close={close}
    >
      Calls of the playground that use it fail from now on. Its value cannot be restored.
    </Confirm>
  )
}

type Opened = { what: 'new' } | { what: 'replace' | 'delete'; entry: WorkspaceSecret }

/** The secrets with which the playground calls model providers: names and hosts, never values. */
export function Secrets() {
  const { isAllowed, reason = '' } = usePermission('secrets:manage')
  const secrets = useSecrets(isAllowed)
  const [opened, open] = useState<Opened>()
  const close = (): void => open(undefined)
  const button = (
    <Button
      icon="plus"
      disabled={!isAllowed}
      title={isAllowed ? undefined : reason}
      onClick={() => open({ what: 'new' })}
    >
      Add a secret
    </Button>
  )
  return (
    <SettingsSection
      title="Secrets of the workspace"
      about="Keys of model providers, for the playground. Each is sent to its own hosts only."
      action={button}
    >
      {!isAllowed ? (
        <Locked reason={reason} />
      ) : (
        <Loaded from={secrets}>
          {(found) =>
            found.length === 0 ? (
              <p className={css['note']}>There is no secret yet.</p>
            ) : (
              <Table label="Secrets" columns={COLUMNS}>
                {found.map((entry) => (
                  <SecretRow
                    key={entry.key}
                    entry={entry}
                    replace={() => open({ what: 'replace', entry })}
                    remove={() => open({ what: 'delete', entry })}
                  />
                ))}
              </Table>
            )
          }
        </Loaded>
      )}
      {(opened?.what === 'new' || opened?.what === 'replace') && (
        <SecretDialog entry={opened.what === 'new' ? undefined : opened.entry} close={close} />
      )}
      {opened?.what === 'delete' && <DeleteDialog name={opened.entry.key} close={close} />}
    </SettingsSection>
  )
}
