import { useState } from 'react'
import type { Alert } from '../../api/platform.gen.ts'
import { useAlertChanges, useAlerts } from '../../data/alerts/alerts.ts'
import { FIGURE_NAMES, ruleText, valueText } from '../../parts/alerts/words.ts'
import { useProjectNames } from '../../data/projects/projects.ts'
import { usePermission } from '../../data/session.ts'
import { AlertForm } from '../../parts/alerts/alert-form.tsx'
import { Button, IconButton } from '../../parts/controls.tsx'
import { callsText, UNKNOWN } from '../../parts/format/numbers.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/states.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import { SettingsSection } from './section.tsx'
import css from './settings.module.css'

const FIGURES = Object.keys(FIGURE_NAMES) as Alert['figure'][]
const COLUMNS = [
  'Name',
  'State',
  'Project',
  'Rule',
  { name: 'Since', isNumber: true },
  { name: 'Value', isNumber: true, title: 'The figure at the last evaluation' },
  { name: 'Told', title: 'What became of the last notification' },
  CHANGE,
]
const TOLD = {
  delivered: 'delivered',
  refused: 'refused: the address may not be called',
  failed: 'not delivered',
} as const

function State({ alert }: { alert: Alert }) {
  if (!alert.is_enabled) return <span className={css['none']}>off</span>
  if (alert.state === 'firing')
    return (
      <span className={css['firing']}>
        <Icon name="warning" /> firing
      </span>
    )
  return alert.state === 'ok' ? (
    <>
      <Icon name="success" color="var(--ok)" /> ok
    </>
  ) : (
    <span className={css['none']}>not known yet</span>
  )
}

/** The overview that has the chart of an alert. */
function chartPath({ session_id, subject, filter }: Alert): string {
  const search = new URLSearchParams({ view: 'overview' })
  if (subject !== 'traces') search.set('of', subject)
  if (filter !== null) search.set('q', filter)
  return `/projects/${session_id}?${search}`
}

function AlertRow({
  alert,
  project,
  open,
}: {
  alert: Alert
  project: string | undefined
  open(what: Opened['what']): void
}) {
  const { isAllowed, reason } = usePermission('projects:create')
  const { update } = useAlertChanges()
  const { name, is_enabled: isOn, delivery } = alert
  const off = isOn ? `Switch off ${name}` : `Switch on ${name}`
  return (
    <tr>
      <th scope="row">{name}</th>
      <td title={alert.fault ?? undefined}>
        <State alert={alert} />
        {alert.fault !== null && <span className={css['none']}> · cannot be evaluated</span>}
      </td>
      <td>{project ?? UNKNOWN}</td>
      <td title={alert.filter === null ? undefined : `Only ${alert.filter}`}>
        <Link to={chartPath(alert)}>{ruleText(alert)}</Link>
        {alert.filter !== null && <span className={css['none']}> · filtered</span>}
      </td>
      <td className="number">{alert.since === null ? UNKNOWN : <Time time={alert.since} />}</td>
      <td
        className="number"
        title={alert.unpriced_runs ? `${callsText(alert.unpriced_runs)} without a price` : undefined}
      >
        {valueText(alert)}
      </td>
      <td>
        {delivery === null ? (
          <span className={css['none']}>{alert.webhook_url === null ? 'no webhook' : 'nothing yet'}</span>
        ) : (
          <>
            {TOLD[delivery]} <Time time={alert.delivery_at} />
          </>
        )}
      </td>
      <td className={css['buttons']}>
        <Button
          look="plain"
          aria-label={off}
          disabled={!isAllowed || update.isPending}
          title={reason ?? off}
          onClick={() => update.mutate({ id: alert.id, is_enabled: !isOn })}
        >
          {isOn ? 'Switch off' : 'Switch on'}
        </Button>
        <IconButton
          icon="edit"
          label={reason ?? `Change ${name}`}
          disabled={!isAllowed}
          onClick={() => open('change')}
        />
        <IconButton
          icon="remove"
          label={reason ?? `Delete ${name}`}
          disabled={!isAllowed}
          onClick={() => open('delete')}
        />
      </td>
    </tr>
  )
}

interface Opened {
  what: 'change' | 'delete'
  alert: Alert
}

function AlertDialog({ what, alert, close }: Opened & { close(): void }) {
  const { update, remove } = useAlertChanges()
  if (what === 'delete')
    return (
      <Confirm
        title={`Delete the alert ${alert.name}`}
        action="Delete it"
        change={remove}
        confirm={() => remove.mutate(alert.id, { onSuccess: close })}
        close={close}
      >
        {alert.state === 'firing'
          ? 'It fires now; its webhook is told that it is resolved.'
          : 'It does not fire now.'}
      </Confirm>
    )
  return (
    <Dialog title={`Change ${alert.name}`} close={close}>
      <AlertForm
        label="Change the alert"
        rule={alert}
        figures={FIGURES}
        change={update}
        save={(rule) => update.mutate({ ...rule, id: alert.id }, { onSuccess: close })}
        close={close}
      />
    </Dialog>
  )
}

/** The alerts of all projects of the workspace, with their states. */
export function Alerts() {
  const alerts = useAlerts()
  const names = useProjectNames((alerts.data ?? []).map(({ session_id }) => session_id))
  const [opened, open] = useState<Opened>()
  return (
    <SettingsSection
      title="Alerts"
      about="Rules about the charts of projects, evaluated each minute. A new one is made with the bell at a chart of a project's overview."
    >
      <Loaded from={alerts}>
        {(found) =>
          found.length === 0 ? (
            <p className={css['note']}>There is no alert yet.</p>
          ) : (
            <Table label="Alerts" columns={COLUMNS}>
              {found.map((alert) => (
                <AlertRow
                  key={alert.id}
                  alert={alert}
                  project={names.get(alert.session_id)}
                  open={(what) => open({ what, alert })}
                />
              ))}
            </Table>
          )
        }
      </Loaded>
      {opened !== undefined && <AlertDialog {...opened} close={() => open(undefined)} />}
    </SettingsSection>
  )
}
