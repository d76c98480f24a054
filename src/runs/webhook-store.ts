import type { Run, Tenant } from './model.ts'

/** What is to be told of a run that has ended. */
export interface WebhookDue extends Tenant {
  url: string
  /** As it ended. */
  run: Run
  /** Of the thread's state, as JSON text. */
  values_json: string | null
  /** How often it was told in vain. */
  tries: number
  /** Another process takes it from then on. */
  due_at: number
}

/** Who takes webhooks, and for how long without a word. */
export interface WebhookLease {
  /** Id of the instance, kept over restarts. */
  owner: string
  lease_ms: number
}

/** Webhooks that wait to be told. They are made and become due in the transactions of the run store. */
export interface WebhookStore {
  /** Takes what is due, the longest overdue first: it is `owner`'s for `lease_ms`. */
  take(deployments: readonly string[], limit: number, lease: WebhookLease): Promise<WebhookDue[]>
  /** What an earlier process of this instance had taken is due again: call it before the first `take`. */
  recover(owner: string): Promise<void>
  /** It was told, or is given up. */
  remove(webhook: WebhookDue): Promise<void>
  /** To be told again, unless another process has taken it meanwhile. */
  putOff(webhook: WebhookDue, due_at: number, tries: number): Promise<void>
  /** When the next of these deployments becomes due; what others have taken counts from the end of their lease. */
  nextDue(deployments: readonly string[]): Promise<number | undefined>
  /** Forgets those whose runs were deleted before their end. Answers how many. */
  sweep(): Promise<number>
}
