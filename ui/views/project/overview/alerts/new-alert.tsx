import { useAlertChanges } from '../../../../data/alerts/alerts.ts'
import { alertName, CHART_FIGURES } from '../../../../parts/alerts/words.ts'
import { groupClause, narrowed, type Selection } from '../../../../data/overview/selection.ts'
import { AlertForm } from '../../../../parts/alerts/alert-form.tsx'
import { Dialog } from '../../../../parts/forms/dialog.tsx'
import type { Chart } from '../charts.ts'

const OTHERS = 'others'

/** The form of an alert on a chart: on all of its runs, or on one of its groups. */
export function NewAlert({ chart, selection, close }: { chart: Chart; selection: Selection; close(): void }) {
  const { create } = useAlertChanges()
  const { project, filter, subject, group } = selection
  const figures = CHART_FIGURES[chart.id] ?? []
  const [figure = 'run_count'] = figures
  const groups =
    group === ''
      ? []
      : [
          [filter, 'all of them'] as const,
          ...chart.series.flatMap(({ id, name }) =>
            id === OTHERS ? [] : [[narrowed(filter, [groupClause(group, id)]), name] as const],
          ),
        ]
  const rule = {
    name: alertName(figure, subject),
    subject,
    filter: filter === '' ? null : filter,
    figure,
    comparison: figure === 'good_calls' ? ('below' as const) : ('above' as const),
    threshold: '',
    window_minutes: 15,
    no_data: 'keep' as const,
    webhook_url: null,
  }
  return (
    <Dialog title={`Alert on ${chart.title}`} close={close}>
      {filter !== '' && (
        <p>
          Only runs that fit the filter: <code>{filter}</code>
        </p>
      )}
      <AlertForm
        label="New alert"
        rule={rule}
        figures={figures}
        groups={groups}
        nameOf={(one, name) => alertName(one, subject, name)}
        change={create}
        save={(made) => create.mutate({ ...made, session_id: project }, { onSuccess: close })}
        close={close}
      />
    </Dialog>
  )
}
