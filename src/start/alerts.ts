import type { AlertStore } from '../alerts/alert.ts'
import { notificationBody } from '../alerts/message.ts'
import { createAlertSweep, EVERY_MS } from '../alerts/sweep.ts'
import type { Sweeps } from '../base/background/sweeps.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Config } from '../config.ts'
import { webhookSender } from '../hosting/revision/serving.ts'
import type { Ingester } from '../ingest/ingester.ts'
import type { TraceReads } from '../query/trace-reads.ts'
import { startDeliveries } from '../runs/webhooks/deliveries.ts'
import { ANY_WEBHOOK } from '../runs/webhooks/rules.ts'
import { createAlertStore } from '../storage/sql/alerts/alert-store.ts'
import { createNotificationStore } from '../storage/sql/alerts/notification-store.ts'
import type { Database } from '../storage/sql/driver/database.ts'

interface AlertParts {
  config: Config
  database: Database
  reads: Pick<TraceReads, 'stats'>
  ingester: Pick<Ingester, 'health'>
  sweeps: Sweeps
  logger: Logger
  metrics: Metrics
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

/** Evaluates the alerts each minute, and tells their changes. `evaluateAlerts` does so now. */
export async function startAlerts(
  parts: AlertParts,
): Promise<{ alerts: AlertStore; evaluateAlerts(): void }> {
  const { config, database, reads, ingester, logger, metrics, stops } = parts
  const clock = systemClock
  const alerts = createAlertStore(database, clock)
  const { webhookSecret: secret, owner } = await webhookSender({ config })
  const deliveries = startDeliveries({
    store: createNotificationStore(database, clock),
    message: ({ notification }) => ({
      id: notification.id,
      body: notificationBody(notification, config.publicUrl),
    }),
    about: ({ alert_id, change_no }) => ({ alert_id, change_no }),
    owner,
    secret,
    rules: ANY_WEBHOOK,
    allowPrivate: config.runs.webhooksToPrivateAddresses,
    clock,
    logger,
    metrics,
  })
  stops.defer(() => deliveries.stop())
  const oldestWaiting = (): string | null => ingester.health().oldest_waiting_at
  const changed = (): void => deliveries.ask()
  const work = createAlertSweep({ store: alerts, reads, oldestWaiting, changed, clock, logger })
  const sweep = parts.sweeps.start({ name: 'alerts', everyMs: EVERY_MS, work })
  stops.defer(() => sweep.stop())
  // A sweep that runs already may have looked before the change.
  const soon = async (): Promise<void> => {
    await sweep.now().catch(() => undefined)
    await sweep.now().catch(() => undefined)
  }
  return { alerts, evaluateAlerts: () => void soon() }
}
