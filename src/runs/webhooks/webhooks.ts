import type { Run } from '../model.ts'
import { webhookBody } from '../run-json.ts'
import { type Deliveries, type DeliveryOptions, type DeliveryStore, startDeliveries } from './deliveries.ts'
import type { WebhookDue, WebhookStore } from './store.ts'

export interface WebhookOptions extends Omit<DeliveryOptions<WebhookDue>, 'store' | 'message' | 'about'> {
  store: WebhookStore
  deployments: readonly string[]
}

/** Delivers the webhooks of runs that have ended, also of those that ended before this process started. */
export interface Webhooks extends Pick<Deliveries, 'stop'> {
  /** A run has ended; its webhook, if it has one, is delivered soon. Undefined for a run that no longer exists. */
  ended(run: Pick<Run, 'kwargs'> | undefined): void
}

/** Starts the delivery of webhooks, first of those that earlier processes left. */
export function startWebhooks({ store, deployments, ...options }: WebhookOptions): Webhooks {
  const ofDeployments: DeliveryStore<WebhookDue> = {
    take: (limit, lease) => store.take(deployments, limit, lease),
    recover: (owner) => store.recover(deployments, owner),
    remove: (webhook) => store.remove(webhook),
    putOff: (webhook, due_at, tries) => store.putOff(webhook, due_at, tries),
    nextDue: () => store.nextDue(deployments),
  }
  const deliveries = startDeliveries<WebhookDue>({
    ...options,
    store: ofDeployments,
    message: ({ run, values_json }, now) => ({ id: run.run_id, body: webhookBody(run, values_json, now) }),
    about: ({ run }) => ({ run_id: run.run_id }),
  })
  return {
    ended(run) {
      if (run?.kwargs.webhook !== null) deliveries.ask()
    },
    stop: () => deliveries.stop(),
  }
}
