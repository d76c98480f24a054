/** The kinds of runs that a rule can be about, as in the overview of a project. */
export const ALERT_SUBJECTS = ['traces', 'llm', 'tool', 'all'] as const

/** The figures that a rule can watch: those of the charts of the overview. */
export const ALERT_FIGURES = [
  'run_count',
  'failed_count',
  'error_rate',
  'latency_p50',
  'latency_p95',
  'latency_p99',
  'first_token_p50',
  'first_token_p95',
  'first_token_p99',
  'total_tokens',
  'total_cost',
  'good_calls',
] as const
export type AlertFigure = (typeof ALERT_FIGURES)[number]

/** `unknown` until the first evaluation. */
export type AlertState = 'unknown' | 'ok' | 'firing'

/** What a rule says. */
export interface AlertFields {
  /** Unique in the project. */
  name: string
  subject: (typeof ALERT_SUBJECTS)[number]
  /** Expression of the filter language; null for all runs of the subject. */
  filter: string | null
  figure: AlertFigure
  comparison: 'above' | 'below'
  /** Decimal text. Rates are shares from 0 to 1, times are seconds. */
  threshold: string
  window_minutes: number
  /** What a window without a value means: the state stays, or is that of a value on this side of the threshold. */
  no_data: 'keep' | 'ok' | 'fire'
  /** Null: the state is only shown. */
  webhook_url: string | null
  is_enabled: boolean
}

export interface AlertPlace {
  workspace_id: string
  id: string
}

export interface Alert extends AlertPlace, AlertFields {
  project_id: string
  /** The user who made it; null for a service key. */
  created_by: string | null
  /** Epoch milliseconds. */
  created_at: number
  modified_at: number
  /** How often it was changed. */
  version: number
  state: AlertState
  /** When the state began, epoch milliseconds; null while it is unknown. */
  since: number | null
  /** The figure at the last evaluation; null for none. */
  value: string | null
  /** Number of calls without a known cost, which a value of `total_cost` leaves out; null for other figures. */
  unpriced_runs: number | null
  evaluated_at: number | null
  /** Why the last evaluation was not possible. */
  fault: string | null
  /** What became of the last notification; null before there was one. */
  delivery: 'delivered' | 'refused' | 'failed' | null
  delivery_at: number | null
}

/** Why a state changed: by the figure, by a window without a value, or because the rule was changed while it fired. */
export type AlertReason = 'threshold' | 'no_data' | 'changed' | 'disabled' | 'deleted'

/** Milliseconds; the end is excluded. */
export interface AlertWindow {
  from: number
  to: number
}

export interface Evaluation {
  state: AlertState
  reason: AlertReason
  value: string | null
  /** As in `Alert`. */
  unpriced_runs: number | null
  window: AlertWindow
  at: number
}

/** A change that is to be told: the rule as it was then. */
export interface Notification {
  /** The same at each attempt. */
  id: string
  alert: Alert
  /** Counts the changes of the rule, from 1. */
  change_no: number
  state: 'ok' | 'firing'
  reason: AlertReason
  value: string | null
  /** As in `Alert`; undefined in one that an earlier version stored. */
  unpriced_runs?: number | null
  /** Null if the state changed without an evaluation. */
  window: AlertWindow | null
  at: number
}

export interface AlertStore {
  /** By name; of one project, or of all. */
  list(workspace_id: string, project_id?: string): Promise<Alert[]>
  /** @throws AppError conflict when the name is taken, quota_reached when the workspace has too many */
  create(
    owner: Pick<Alert, 'workspace_id' | 'project_id' | 'created_by'>,
    fields: AlertFields,
  ): Promise<Alert>
  /**
   * Changes a rule. Its state is unknown afterwards if something that decides about it was changed; a firing one is then
   * told as resolved. Undefined when there is no such rule. @throws AppError conflict when the name is taken
   */
  update(place: AlertPlace, fields: Partial<AlertFields>): Promise<Alert | undefined>
  /** A firing one is told as resolved. Returns the deleted rule; undefined if there was none. */
  delete(place: AlertPlace): Promise<Alert | undefined>
  /** Takes rules whose evaluation is due, the longest overdue first. Each is due again after `every_ms`. */
  takeDue(limit: number, every_ms: number): Promise<Alert[]>
  /** Stores an evaluation, and a change to tell; nothing if the rule was changed or deleted meanwhile. */
  settle(alert: Alert, evaluation: Evaluation): Promise<void>
  /** Stores why a rule could not be evaluated; its state stays. */
  fail(alert: Alert, fault: string, at: number): Promise<void>
}
