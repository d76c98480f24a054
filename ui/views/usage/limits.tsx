import { type FormEvent, useState } from 'react'
import type { ApiKeyRead } from '../../api/platform.gen.ts'
import { useApiKeys } from '../../data/settings/keys.ts'
import { usePermission, useSession } from '../../data/session.ts'
import { type Limit, useLimitChanges, useLimits } from '../../data/usage/queries.ts'
import { Button, Field, IconButton, Select } from '../../parts/controls.tsx'
import { isManagedBy, ManagedNote } from '../../parts/forms/managed.tsx'
import { countText, shareText } from '../../parts/format/numbers.ts'
import { Failure, Loaded } from '../../parts/states.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { ShareBar } from './report.tsx'
import css from './usage.module.css'

interface Workspace {
  id: string
  display_name: string
}

const MODES: readonly (readonly ['soft' | 'hard', string])[] = [
  ['soft', 'Warn'],
  ['hard', 'Refuse new traces'],
]

type Key = Pick<ApiKeyRead, 'id' | 'description' | 'short_key'>

interface Limited {
  workspaces: readonly Workspace[]
  keys: readonly Key[]
}

const keyName = ({ description, short_key }: Key): string => `API key ${description || short_key}`

function nameOf({ workspace_id, api_key_id }: Limit, { workspaces, keys }: Limited): string {
  if (workspace_id !== null)
    return workspaces.find(({ id }) => id === workspace_id)?.display_name ?? workspace_id
  const key = keys.find(({ id }) => id === api_key_id)
  return key === undefined ? `API key ${api_key_id ?? ''}` : keyName(key)
}

/** Traces of this month; undefined for a key that is not known. Short forms of keys are unique (D-7). */
function usedBy(
  { workspace_id, api_key_id }: Limit,
  used: ReadonlyMap<string, number>,
  keys: readonly Key[],
): number | undefined {
  if (workspace_id !== null) return used.get(workspace_id) ?? 0
  const short = keys.find(({ id }) => id === api_key_id)?.short_key
  return short === undefined ? undefined : (used.get(short) ?? 0)
}

function LimitRow({ limit, name, used }: { limit: Limit; name: string; used: number | undefined }) {
  const { remove } = useLimitChanges()
  const { isAllowed, reason } = usePermission('organization:manage')
  const share = used === undefined ? undefined : limit.limit_value === 0 ? 1 : used / limit.limit_value
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="number">
        {used === undefined ? '' : `${countText(used)} of `}
        {countText(limit.limit_value)}
      </td>
      <td className="number">{shareText(share)}</td>
      <td className={css['share']}>
        {share !== undefined && <ShareBar share={share} isFull={share >= 1} />}
      </td>
      <td>{limit.mode === 'hard' ? 'refuses new traces' : 'warns'}</td>
      <td>
        <IconButton
          icon="remove"
          label={isAllowed ? `Remove the limit of ${name}` : (reason ?? '')}
          disabled={!isAllowed || remove.isPending}
          onClick={() => remove.mutate({ id: limit.id, override: false })}
        />
        {remove.error !== null && <Failure error={remove.error} />}
        {isManagedBy(false, remove.error) && (
          <Button disabled={remove.isPending} onClick={() => remove.mutate({ id: limit.id, override: true })}>
            Remove it here all the same
          </Button>
        )}
      </td>
    </tr>
  )
}

const COLUMNS = [
  'Limited',
  { name: 'Traces this month', isNumber: true },
  { name: 'Share', isNumber: true },
  'Of the limit',
  'When reached',
  CHANGE,
]

function LimitTable({
  limits,
  used,
  limited,
}: {
  limits: readonly Limit[]
  used: ReadonlyMap<string, number>
  limited: Limited
}) {
  if (limits.length === 0) return <p className={css['note']}>No workspace and no key has a limit.</p>
  return (
    <Table label="Monthly limits" columns={COLUMNS}>
      {limits.map((limit) => (
        <LimitRow
          key={limit.id}
          limit={limit}
          name={nameOf(limit, limited)}
          used={usedBy(limit, used, limited.keys)}
        />
      ))}
    </Table>
  )
}

function LimitForm({ workspaces, keys }: Limited) {
  const { save } = useLimitChanges()
  const { isAllowed, reason } = usePermission('organization:manage')
  const { data: session } = useSession()
  const [chosen, choose] = useState(session?.default_workspace_id ?? workspaces[0]?.id ?? '')
  const [mode, setMode] = useState<'soft' | 'hard'>('soft')
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const value = Number(form.get('value'))
    const isKey = keys.some(({ id }) => id === chosen)
    const subject = isKey ? { api_key_id: chosen } : { workspace_id: chosen }
    save.mutate({ ...subject, limit_value: value, mode, override: form.has('override') })
  }
  return (
    <form className={css['form']} aria-label="Set a limit" onSubmit={submit}>
      <Select
        label="Workspace or API key"
        value={chosen}
        options={[
          ...workspaces.map(({ id, display_name }) => [id, display_name] as const),
          ...keys.map((key) => [key.id, keyName(key)] as const),
        ]}
        onChange={choose}
      />
      <Field
        name="value"
        type="number"
        min={0}
        step={1}
        required
        aria-label="Traces a month"
        placeholder="Traces a month"
      />
      <Select label="When reached" value={mode} options={MODES} onChange={(word) => setMode(word)} />
      <Button type="submit" disabled={!isAllowed || save.isPending} title={reason}>
        Set the limit
      </Button>
      {save.error !== null && <Failure error={save.error} />}
      {isManagedBy(false, save.error) && <ManagedNote key={chosen} />}
    </form>
  )
}

/** The keys that the caller may see. */
function useKnownKeys(): readonly Key[] {
  const { isAllowed } = usePermission('organization:read')
  const service = useApiKeys('service', isAllowed).data ?? []
  const personal = useApiKeys('personal', true).data ?? []
  return [...service, ...personal]
}

/** Monthly limits with their present use, and a form for those of workspaces and keys. */
export function UsageLimits({ workspaces }: { workspaces: readonly Workspace[] }) {
  const found = useLimits(workspaces.map(({ id }) => id))
  const limited = { workspaces, keys: useKnownKeys() }
  return (
    <section className={css['section']} aria-label="Limits">
      <h2>Limits of a month (UTC)</h2>
      <Loaded from={found}>
        {(loaded) => (
          <>
            <LimitTable {...loaded} limited={limited} />
            {workspaces.length > 0 && <LimitForm {...limited} />}
          </>
        )}
      </Loaded>
    </section>
  )
}
