import { lazy, Suspense, useState } from 'react'
import type { Alert } from '../../../../api/platform.gen.ts'
import { CHART_FIGURES, isRate, ruleText } from '../../../../parts/alerts/words.ts'
import type { Selection } from '../../../../data/overview/selection.ts'
import { usePermission } from '../../../../data/session.ts'
import { IconButton } from '../../../../parts/controls.tsx'
import type { ChartLimit } from '../../../../parts/chart/lines.tsx'
import { Icon } from '../../../../parts/icon.tsx'
import { Link } from '../../../../router/link.tsx'
import type { Chart } from '../charts.ts'
import css from '../overview.module.css'

const NewAlert = lazy(() => import('./new-alert.tsx').then((file) => ({ default: file.NewAlert })))

/** The alerts on the figures of a chart, whatever their filter; the firing ones first. */
export function alertsOf(chart: Chart, subject: Selection['subject'], alerts: readonly Alert[]): Alert[] {
  const figures = CHART_FIGURES[chart.id] ?? []
  const own = alerts.filter(
    (one) => one.is_enabled && one.subject === subject && figures.includes(one.figure),
  )
  return own.toSorted((a, b) => Number(b.state === 'firing') - Number(a.state === 'firing'))
}

/** The thresholds that are lines in a chart: those about the very runs of the chart, with a unit of its axis. */
export function limitsOf(alerts: readonly Alert[], { filter, group }: Selection): ChartLimit[] {
  const drawn = alerts.filter((one) => isRate(one.figure) && (one.filter ?? '') === filter && group === '')
  return drawn.map(({ id, threshold, state }) => ({
    id,
    size: Number(threshold),
    isFiring: state === 'firing',
  }))
}

/** The names of the alerts on a chart, the firing ones in colour, and the button that adds one. */
export function ChartAlerts({
  chart,
  selection,
  alerts,
}: {
  chart: Chart
  selection: Selection
  alerts: readonly Alert[]
}) {
  const [isOpen, setOpen] = useState(false)
  const { isAllowed, reason } = usePermission('projects:create')
  return (
    <span className={css['alerts']}>
      {alerts.map((alert) => (
        <Link
          key={alert.id}
          to="/settings?view=alerts"
          className={css['alert']}
          data-state={alert.state}
          title={`${ruleText(alert)}${alert.filter === null ? '' : `, only ${alert.filter}`}`}
        >
          <Icon name={alert.state === 'firing' ? 'warning' : 'bell'} />
          {alert.state === 'firing' ? `Firing: ${alert.name}` : alert.name}
        </Link>
      ))}
      <IconButton
        icon={alerts.length === 0 ? 'bell' : 'plus'}
        label={reason ?? `Add an alert on ${chart.title}`}
        disabled={!isAllowed}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Suspense>
          <NewAlert chart={chart} selection={selection} close={() => setOpen(false)} />
        </Suspense>
      )}
    </span>
  )
}
