import type { Alert, Notification } from './alert.ts'

/** What a figure is called in a sentence. */
const FIGURE_NAMES: Record<Alert['figure'], string> = {
  run_count: 'number',
  failed_count: 'number of failures',
  error_rate: 'error rate',
  latency_p50: 'p50 of the latency',
  latency_p95: 'p95 of the latency',
  latency_p99: 'p99 of the latency',
  first_token_p50: 'p50 of the time to the first token',
  first_token_p95: 'p95 of the time to the first token',
  first_token_p99: 'p99 of the time to the first token',
  total_tokens: 'tokens',
  total_cost: 'known cost',
  good_calls: 'share of good model calls',
}

const SUBJECT_NAMES = { traces: 'traces', llm: 'model calls', tool: 'tool calls', all: 'runs' } as const

function numberText(figure: Alert['figure'], text: string): string {
  const value = Number(text)
  if (figure === 'error_rate' || figure === 'good_calls') return `${Number((value * 100).toFixed(2))}%`
  if (figure.startsWith('latency') || figure.startsWith('first_token')) return `${Number(value.toFixed(3))} s`
  return figure === 'total_cost' ? `$${text}` : text
}

const callsText = (count: number): string => (count === 1 ? '1 call that has' : `${count} calls that have`)

const WHY = {
  threshold: undefined,
  no_data: 'There was no value.',
  changed: 'The rule was changed.',
  disabled: 'The rule was switched off.',
  deleted: 'The rule was deleted.',
} as const

function sentence({ alert, state, reason, value, unpriced_runs }: Notification): string {
  const { name, figure, subject, comparison, threshold, window_minutes } = alert
  const about = `${FIGURE_NAMES[figure]} of ${SUBJECT_NAMES[subject]}`
  const found = value === null ? '' : ` was ${numberText(figure, value)}`
  const missing = unpriced_runs ? `, without ${callsText(unpriced_runs)} no price` : ''
  const limit = `${comparison} ${numberText(figure, threshold)}`
  const first = `${state === 'firing' ? 'Firing' : 'Resolved'}: ${name}.`
  const second = WHY[reason] ?? `The ${about}${found} in ${window_minutes} min (alert ${limit})${missing}.`
  return `${first} ${second}`
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** The overview that has the chart of a rule, over a day. */
function pathOf({ project_id, subject, filter }: Alert): string {
  const search = new URLSearchParams({ view: 'overview', of: subject, t: '1d' })
  if (filter !== null) search.set('q', filter)
  return `/app/projects/${project_id}?${search.toString()}`
}

/** The body of a webhook about a change of an alert. `url` is only known with PUBLIC_URL. */
export function notificationBody(notification: Notification, publicUrl: string | undefined): string {
  const { id, alert, change_no, state, reason, value, unpriced_runs = null, window, at } = notification
  const path = pathOf(alert)
  return JSON.stringify({
    type: state === 'firing' ? 'alert.firing' : 'alert.resolved',
    id,
    text: sentence(notification),
    state,
    reason,
    value,
    unpriced_runs,
    time: iso(at),
    window: window && { start_time: iso(window.from), end_time: iso(window.to) },
    change: change_no,
    alert: {
      id: alert.id,
      name: alert.name,
      session_id: alert.project_id,
      subject: alert.subject,
      filter: alert.filter,
      figure: alert.figure,
      comparison: alert.comparison,
      threshold: alert.threshold,
      window_minutes: alert.window_minutes,
    },
    app_path: path,
    url: publicUrl === undefined ? null : new URL(path, publicUrl).href,
  })
}
