import { usePermission, useSession } from '../../data/session.ts'
import { useMembers } from '../../data/settings/organization.ts'
import { type ListedSession, useSessionEnd, useSessions } from '../../data/settings/sessions.ts'
import { Chip, IconButton } from '../../parts/controls.tsx'
import { Failure, Loaded } from '../../parts/states.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { Time } from '../../parts/time.tsx'
import { SettingsSection } from './section.tsx'
import css from './settings.module.css'

/** Browser sessions: one's own, and for admins of all workspaces those of all. */
export function Sessions() {
  const { data: session } = useSession()
  const managing = usePermission('organization:manage')
  const ofAll = managing.isAllowed && session?.all_workspaces === true
  const found = useSessions(ofAll)
  const members = useMembers(ofAll)
  const end = useSessionEnd()
  const nameOf = ({ user_id }: ListedSession): string =>
    user_id === null
      ? 'a service key'
      : (members.data?.find((one) => one.user_id === user_id)?.email ?? session?.user?.email ?? user_id)
  return (
    <SettingsSection
      title="Sessions"
      about={ofAll ? 'Browsers that are signed in, of all members.' : 'Browsers in which you are signed in.'}
    >
      {end.error !== null && <Failure error={end.error} />}
      <Loaded from={found}>
        {(sessions) => (
          <Table label="Sessions" columns={['Who', 'Signed in with', 'Since', 'Last used', 'Ends', CHANGE]}>
            {sessions.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  {nameOf(one)} {one.is_current && <Chip title="This browser">this one</Chip>}
                </th>
                <td>{one.provider ?? <code>{one.short_key}</code>}</td>
                <td>
                  <Time time={one.created_at} />
                </td>
                <td>
                  <Time time={one.last_used_at} />
                </td>
                <td>
                  <Time time={one.expires_at} />
                </td>
                <td className={css['buttons']}>
                  <IconButton
                    icon="remove"
                    label={`End the session of ${nameOf(one)}`}
                    onClick={() => end.mutate(one.id)}
                  />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
    </SettingsSection>
  )
}
