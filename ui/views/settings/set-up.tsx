import type { SetupFilePlan, SetupStep } from '../../api/platform.gen.ts'
import { usePermission, useSession } from '../../data/session.ts'
import { useSetupFilePlan } from '../../data/settings/setup.ts'
import { countText } from '../../parts/format/numbers.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Locked, SettingsSection } from './section.tsx'
import css from './settings.module.css'

/** Rows of the table; `weir setup apply --plan` prints all. */
const MOST = 200

const WORDS: Readonly<Record<SetupStep['action'], string>> = {
  create: 'is missing here',
  change: 'is different',
  keep: 'is the same',
  delete: 'is not in the file, which removes what it does not name',
}

function Steps({ steps }: { steps: readonly SetupStep[] }) {
  return (
    <>
      <Table label="What differs from the file" columns={['Section', 'Name', 'Here', 'Fields']}>
        {steps.slice(0, MOST).map(({ section, name, action, fields }) => (
          <tr key={`${section} ${name}`}>
            <td>{section.replaceAll('_', ' ')}</td>
            <th scope="row">{name}</th>
            <td>{WORDS[action]}</td>
            <td>{fields.join(', ')}</td>
          </tr>
        ))}
      </Table>
      {steps.length > MOST && (
        <p className={css['note']}>
          The first {countText(MOST)} of {countText(steps.length)}; weir setup apply --plan prints all.
        </p>
      )}
    </>
  )
}

function Plan({ plan: { has_file, error, kept, steps } }: { plan: SetupFilePlan }) {
  if (!has_file)
    return (
      <p className={css['note']}>
        This server has no SETUP_FILE. What weir setup apply has sent is marked in the lists, and weir setup
        apply --plan shows what differs.
      </p>
    )
  if (error !== null)
    return (
      <p className={css['locked']} role="alert">
        <Icon name="warning" color="var(--warn)" />
        <span>The file cannot be applied, and the server would not start with it: {error}</span>
      </p>
    )
  if (steps.length === 0)
    return (
      <p>
        Everything is as the file says: {countText(kept)} records of workspaces, members, keys and others.
      </p>
    )
  return (
    <>
      <p>
        {countText(steps.length)} {steps.length === 1 ? 'record differs' : 'records differ'} from the file,
        and {countText(kept)} {kept === 1 ? 'is' : 'are'} as it says. The next start of a server applies the
        file.
      </p>
      <Steps steps={steps} />
    </>
  )
}

/** What differs from the set-up file of the server, and the set-up as a file (rules TEAM-11, TEAM-12). */
export function SetUp() {
  const { isAllowed, reason } = usePermission('organization:manage')
  const { data: session } = useSession()
  const isWhole = isAllowed && session?.all_workspaces === true
  const found = useSetupFilePlan(isWhole)
  return (
    <SettingsSection
      title="Set-up file"
      about="Workspaces, members, service keys, prices, limits and feedback can be in a file that every start applies."
      action={
        isWhole && (
          <a href="/api/v1/setup" download="weir.yaml">
            Download what is here as a file
          </a>
        )
      }
    >
      {isWhole ? (
        <Loaded from={found}>{(plan) => <Plan plan={plan} />}</Loaded>
      ) : (
        <Locked reason={reason ?? 'This needs an admin of all workspaces'} />
      )}
    </SettingsSection>
  )
}
