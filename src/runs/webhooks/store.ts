import type { Run, Tenant } from '../model.ts'

export interface WebhookDue extends Tenant {
  url: string
  /** The run in its state at the end. */
  run: Run
  /** The thread's values, as JSON text. */
  values_json: string | null
  /** Number of failed attempts. */
  tries: number
  /** Time from which another process may take the webhook. */
  due_at: number
}

/** The process that claims webhooks, and the duration of the claim. */
export interface WebhookLease {
  /** Id of the instance, the same after restarts. */
  owner: string
  lease_ms: number
}

/** Pending webhooks. The transactions of the run store create them and make them due. */
export interface WebhookStore {
  /** Takes due webhooks, the longest overdue first: they belong to `owner` for `lease_ms`. */
  take(deployments: readonly string[], limit: number, lease: WebhookLease): Promise<WebhookDue[]>
  /**
   * Makes webhooks of these deployments due again if an earlier process of this instance had taken them. Must be called
   * before the first `take`.
   */
  recover(deployments: readonly string[], owner: string): Promise<void>
  /** Removes a webhook that was delivered or given up. */
  remove(webhook: WebhookDue): Promise<void>
  /** Delays the next attempt, unless another process has taken the webhook meanwhile. */
  putOff(webhook: WebhookDue, due_at: number, tries: number): Promise<void>
  /**
   * The time of the next due webhook of these deployments; for a webhook that another process has taken, the end of its
   * lease.
   */
  nextDue(deployments: readonly string[]): Promise<number | undefined>
  /** Deletes webhooks whose runs were deleted before their end. Returns how many. */
  sweep(): Promise<number>
}
