import { usePermission, useSession } from '../../data/session.ts'
import { type AuditPage, useAudit } from '../../data/settings/organization.ts'
import { Button } from '../../parts/controls.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Locked, Section } from './section.tsx'
import css from './settings.module.css'
import { Table } from './table.tsx'

const ALL_WORKSPACES = 'This needs a key of all workspaces'

function Entry({ entry }: { entry: AuditPage['audit_logs'][number] }) {
  const { time, action, subject_id, actor, details } = entry
  return (
    <tr>
      <td>
        <Time time={time} />
      </td>
      <th scope="row">
        <code>{action}</code>
      </th>
      <td>
        <code title="API key">{actor.short_key}</code>
      </td>
      <td>
        <code>{subject_id}</code>
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

/** The changes of workspaces, members and keys, newest first. */
export function Audit() {
  const { isAllowed, reason } = usePermission('organization:read')
  const { data: session } = useSession()
  const missing = reason ?? (session?.all_workspaces === true ? undefined : ALL_WORKSPACES)
  const found = useAudit(isAllowed && missing === undefined)
  return (
    <Section title="Audit log" about="Changes of workspaces, members and keys, newest first.">
      {missing === undefined ? (
        <Loaded from={found}>
          {({ pages }) => (
            <>
              <Table label="The audit log" columns={['Time', 'Change', 'Key', 'Changed', 'Details']}>
                {pages
                  .flatMap(({ audit_logs }) => audit_logs)
                  .map((entry) => (
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
          )}
        </Loaded>
      ) : (
        <Locked reason={missing} />
      )}
    </Section>
  )
}
