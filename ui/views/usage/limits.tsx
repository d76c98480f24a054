import { type FormEvent, useState } from 'react'
import { usePermission, useSession } from '../../data/session.ts'
import { type Limit, useLimitChanges, useLimits } from '../../data/usage/queries.ts'
import { Button, Field, IconButton, Select } from '../../parts/controls.tsx'
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

function nameOf({ workspace_id, api_key_id }: Limit, workspaces: readonly Workspace[]): string {
  if (workspace_id === null) return `API key ${api_key_id ?? ''}`
  return workspaces.find(({ id }) => id === workspace_id)?.display_name ?? workspace_id
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
          icon="close"
          label={isAllowed ? `Remove the limit of ${name}` : (reason ?? '')}
          disabled={!isAllowed || remove.isPending}
          onClick={() => remove.mutate(limit.id)}
        />
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
  workspaces,
}: {
  limits: readonly Limit[]
  used: ReadonlyMap<string, number>
  workspaces: readonly Workspace[]
}) {
  if (limits.length === 0) return <p className={css['note']}>No workspace and no key has a limit.</p>
  return (
    <Table label="Monthly limits" columns={COLUMNS}>
      {limits.map((limit) => (
        <LimitRow
          key={limit.id}
          limit={limit}
          name={nameOf(limit, workspaces)}
          used={limit.workspace_id === null ? undefined : (used.get(limit.workspace_id) ?? 0)}
        />
      ))}
    </Table>
  )
}

function LimitForm({ workspaces }: { workspaces: readonly Workspace[] }) {
  const { save } = useLimitChanges()
  const { isAllowed, reason } = usePermission('organization:manage')
  const { data: session } = useSession()
  const [workspace, setWorkspace] = useState(session?.default_workspace_id ?? workspaces[0]?.id ?? '')
  const [mode, setMode] = useState<'soft' | 'hard'>('soft')
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const value = Number(new FormData(event.currentTarget).get('value'))
    save.mutate({ workspace_id: workspace, limit_value: value, mode })
  }
  return (
    <form className={css['form']} aria-label="Set a limit" onSubmit={submit}>
      <Select
        label="Workspace"
        value={workspace}
        options={workspaces.map(({ id, display_name }) => [id, display_name])}
        onChange={setWorkspace}
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
    </form>
  )
}

/** Monthly limits with their present use, and a form for those of workspaces. */
export function UsageLimits({ workspaces }: { workspaces: readonly Workspace[] }) {
  const found = useLimits(workspaces.map(({ id }) => id))
  return (
    <section className={css['section']} aria-label="Limits">
      <h2>Limits of a month (UTC)</h2>
      <Loaded from={found}>
        {(loaded) => (
          <>
            <LimitTable {...loaded} workspaces={workspaces} />
            {workspaces.length > 0 && <LimitForm workspaces={workspaces} />}
          </>
        )}
      </Loaded>
    </section>
  )
}
