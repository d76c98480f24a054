import { usePermission, useSession } from '../../../data/session.ts'
import { type AuditPage, useAudit } from '../../../data/settings/organization.ts'
import { Button } from '../../../parts/controls.tsx'
import { Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { AuditFilters, ChangesOf, useAuditFilter } from './audit-filter.tsx'
import { Locked, SettingsSection } from '../section.tsx'
import css from '../settings.module.css'

const ALL_WORKSPACES = 'This needs a key of all workspaces'

/** The key that made a change, or the member who was signed in without one. */
function By({ actor: { api_key_id, short_key, user_id } }: Pick<AuditPage['audit_logs'][number], 'actor'>) {
  const value = api_key_id ?? user_id
  return value === null ? 'nobody' : <ChangesOf name="actor" value={value} text={short_key ?? value} />
}

function Entry({ entry }: { entry: AuditPage['audit_logs'][number] }) {
  const { time, action, subject_id, actor, details } = entry
  return (
    <tr>
      <td>
        <Time time={time} />
      </td>
      <th scope="row">
        <ChangesOf name="action" value={action} text={action} />
      </th>
      <td>
        <By actor={actor} />
      </td>
      <td>
        <ChangesOf name="subject" value={subject_id} text={subject_id} />
      </td>
      <td className={css['details']}>
        {Object.entries(details).map(([name, value]) => (
          <span key={name}>
            {name.replaceAll('_', ' ')}:{' '}
            <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
          </span>
        ))}
      </td>
    </tr>
  )
}

function Changes({ pages, found }: { pages: readonly AuditPage[]; found: ReturnType<typeof useAudit> }) {
  const entries = pages.flatMap(({ audit_logs }) => audit_logs)
  if (entries.length === 0) return <p className={css['none']}>No change fits the filter.</p>
  return (
    <>
      <Table label="The audit log" columns={['Time', 'Change', 'By', 'Changed', 'Details']}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </Table>
      {found.hasNextPage && (
        <div className={css['actions']}>
          <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Older changes
          </Button>
        </div>
      )}
    </>
  )
}

/** The changes of workspaces, members and keys, newest first, by the filter of the address. */
export function Audit() {
  const { isAllowed, reason } = usePermission('organization:read')
  const { data: session } = useSession()
  const missing = reason ?? (session?.all_workspaces === true ? undefined : ALL_WORKSPACES)
  const filter = useAuditFilter()
  const found = useAudit(filter, isAllowed && missing === undefined)
  return (
    <SettingsSection title="Audit log" about="Changes of workspaces, members and keys, newest first.">
      {missing === undefined ? (
        <>
          <AuditFilters filter={filter} />
          <Loaded from={found}>{({ pages }) => <Changes {...{ pages, found }} />}</Loaded>
        </>
      ) : (
        <Locked reason={missing} />
      )}
    </SettingsSection>
  )
}
