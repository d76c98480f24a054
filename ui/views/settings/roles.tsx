import type { Reply } from '../../api/call.ts'
import { usePermission, useSession } from '../../data/session.ts'
import { useRoles } from '../../data/settings/organization.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Locked, SettingsSection } from './section.tsx'
import css from './settings.module.css'

function Grant({ has }: { has: boolean }) {
  return has ? <Icon name="success" color="var(--ok)" label="yes" /> : <span className={css['none']}>–</span>
}

/** A line for every permission, a column for every role and for the caller. */
function Matrix({ roles, own }: { roles: Reply<'GET /api/v1/orgs/current/roles'>; own: readonly string[] }) {
  const all = roles.find(({ name }) => name === 'admin')?.permissions ?? own
  return (
    <Table label="Permissions of roles" columns={['Permission', ...roles.map(({ name }) => name), 'you']}>
      {all.map((permission) => (
        <tr key={permission}>
          <th scope="row">
            <code>{permission}</code>
          </th>
          {roles.map(({ name, permissions }) => (
            <td key={name}>
              <Grant has={permissions.includes(permission)} />
            </td>
          ))}
          <td>
            <Grant has={own.includes(permission)} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The permissions of each role, and those of the caller. */
export function Roles() {
  const { isAllowed, reason } = usePermission('organization:read')
  const { data: session } = useSession()
  const found = useRoles(isAllowed)
  const own = session?.permissions ?? []
  const about = `Your role is ${session?.role ?? 'not known'}${session?.read_only === true ? ', and your key only reads' : ''}. The last column is what you may do now.`
  return (
    <SettingsSection title="Roles" about={about}>
      {isAllowed ? (
        <Loaded from={found}>
          {(roles) => (
            <>
              <dl className={css['facts']}>
                {roles.map(({ name, description }) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{description}</dd>
                  </div>
                ))}
              </dl>
              <Matrix roles={roles} own={own} />
            </>
          )}
        </Loaded>
      ) : (
        <>
          <Locked reason={reason ?? ''} />
          <p>What you may do:</p>
          <ul className={css['list']}>
            {own.map((permission) => (
              <li key={permission}>
                <code>{permission}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </SettingsSection>
  )
}
