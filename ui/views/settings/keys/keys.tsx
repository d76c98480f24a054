import { useState } from 'react'
import type { ApiKeyRead } from '../../../api/platform.gen.ts'
import { usePermission, useSession } from '../../../data/session.ts'
import { type KeyKind, useApiKeys, useKeyChanges } from '../../../data/settings/keys.ts'
import { Button, Chip, IconButton } from '../../../parts/controls.tsx'
import { Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { CHANGE, Table } from '../../../parts/table/table.tsx'
import { Confirm } from '../../../parts/forms/confirm.tsx'
import { ManagedChip } from '../../../parts/forms/managed.tsx'
import { Locked, SettingsSection } from '../section.tsx'
import css from '../settings.module.css'
import { KeyDialog } from './key-dialog.tsx'
import { whyNoKeys } from './key-rights.ts'

const COLUMNS = ['Name', 'Key', 'Role', 'Workspaces', 'Created', 'Last used', 'Expires', CHANGE]

function workspaceText(
  ids: ApiKeyRead['workspaces'],
  known: readonly { id: string; display_name: string }[],
) {
  if (ids === null) return 'all'
  return ids.map((id) => known.find((one) => one.id === id)?.display_name ?? id).join(', ')
}

function KeyRow({
  entry,
  reason,
  revoke,
}: {
  entry: ApiKeyRead
  reason: string | undefined
  revoke(): void
}) {
  const { data: session } = useSession()
  const name = entry.description || entry.short_key
  return (
    <tr>
      <th scope="row">
        {name} {entry.id === session?.api_key?.id && <Chip title="This session uses this key">yours</Chip>}{' '}
        <ManagedChip managed={entry.managed} />
      </th>
      <td>
        <code>{entry.short_key}</code>
      </td>
      <td>
        {entry.role}
        {entry.read_only && ', reads only'}
      </td>
      <td>{workspaceText(entry.workspaces, session?.workspaces ?? [])}</td>
      <td>
        <Time time={entry.created_at} />
      </td>
      <td>{entry.last_used_at === null ? 'not yet' : <Time time={entry.last_used_at} />}</td>
      <td>{entry.expires_at === null ? 'never' : <Time time={entry.expires_at} />}</td>
      <td className={css['buttons']}>
        <IconButton
          icon="remove"
          label={reason ?? `Revoke ${name}`}
          disabled={reason !== undefined}
          onClick={revoke}
        />
      </td>
    </tr>
  )
}

function RevokeDialog({ kind, entry, close }: { kind: KeyKind; entry: ApiKeyRead; close(): void }) {
  const { revoke } = useKeyChanges(kind)
  const { data: session } = useSession()
  return (
    <Confirm
      title={`Revoke the key ${entry.description || entry.short_key}`}
      action="Revoke it"
      change={revoke}
      managed={entry.managed}
      confirm={(override) => revoke.mutate({ id: entry.id, override }, { onSuccess: close })}
      close={close}
    >
      Whatever uses it is refused from now on, within 30 seconds by all servers. This cannot be undone.
      {entry.id === session?.api_key?.id && ' You are signed in with this key, so this signs you out too.'}
    </Confirm>
  )
}

const TEXTS = {
  service: {
    title: 'Service keys',
    about: 'For applications and CI. They belong to the organization and stay when a member leaves.',
    add: 'Create a service key',
    none: 'There is no service key yet.',
  },
  personal: {
    title: 'Your personal tokens',
    about: 'They act for you and can do no more than you.',
    add: 'Create a token',
    none: 'You have no personal token yet.',
  },
} as const

function KeyList({ kind }: { kind: KeyKind }) {
  const { data: session } = useSession()
  const reading = usePermission('organization:read')
  const isReadable = kind === 'personal' || reading.isAllowed
  const keys = useApiKeys(kind, isReadable)
  const [isOpen, setOpen] = useState(false)
  const [revoked, setRevoked] = useState<ApiKeyRead>()
  const reason = whyNoKeys(kind, session ?? undefined)
  const { title, about, add, none } = TEXTS[kind]
  const button = (
    <Button icon="plus" disabled={reason !== undefined} title={reason} onClick={() => setOpen(true)}>
      {add}
    </Button>
  )
  return (
    <SettingsSection title={title} about={about} action={button}>
      {reason !== undefined && isReadable && <p className={css['note']}>{reason}.</p>}
      {!isReadable ? (
        <Locked reason={reading.reason ?? ''} />
      ) : (
        <Loaded from={keys}>
          {(found) =>
            found.length === 0 ? (
              <p className={css['note']}>{reason === undefined && none}</p>
            ) : (
              <Table label={title} columns={COLUMNS}>
                {found.map((entry) => (
                  <KeyRow key={entry.id} entry={entry} reason={reason} revoke={() => setRevoked(entry)} />
                ))}
              </Table>
            )
          }
        </Loaded>
      )}
      {isOpen && <KeyDialog kind={kind} close={() => setOpen(false)} />}
      {revoked !== undefined && (
        <RevokeDialog kind={kind} entry={revoked} close={() => setRevoked(undefined)} />
      )}
    </SettingsSection>
  )
}

/** Service keys and personal tokens. */
export function Keys() {
  return (
    <>
      <KeyList kind="service" />
      <KeyList kind="personal" />
    </>
  )
}
