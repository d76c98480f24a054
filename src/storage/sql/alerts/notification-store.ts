import type { Notification } from '../../../alerts/alert.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Delivery, DeliveryStore } from '../../../runs/webhooks/deliveries.ts'
import type { Database } from '../driver/database.ts'
import { alertsLock } from './alert-store.ts'

export interface DueNotification extends Delivery {
  alert_id: string
  change_no: number
  notification: Notification
}

type NotificationRow = Omit<DueNotification, 'notification'> & { notification: string }

const COLUMNS = 'alert_id, change_no, url, notification, tries, due_at'
const KEY = 'alert_id = ? AND change_no = ?'
/** Changes of a rule are told in their order: a later one waits until the one before was told or given up. */
const FIRST = `NOT EXISTS (SELECT 1 FROM alert_notifications AS earlier
  WHERE earlier.alert_id = n.alert_id AND earlier.change_no < n.change_no)`

const keyOf = ({ alert_id, change_no }: DueNotification) => [alert_id, change_no]

/** Notifications of alerts in a SQL database that has been migrated. */
export function createNotificationStore(database: Database, clock: Clock): DeliveryStore<DueNotification> {
  return {
    async take(limit, { owner, lease_ms }) {
      const now = clock.now()
      const due = await database.query<NotificationRow>(
        `SELECT ${COLUMNS} FROM alert_notifications AS n WHERE due_at <= ? AND ${FIRST} ORDER BY due_at LIMIT ?`,
        [now, limit],
      )
      const taken: DueNotification[] = []
      for (const { alert_id, change_no, due_at } of due) {
        // Another process that takes it changes the due time.
        const rows = await database.query<NotificationRow>(
          `UPDATE alert_notifications SET due_at = ?, taken_by = ? WHERE ${KEY} AND due_at = ? RETURNING ${COLUMNS}`,
          [now + lease_ms, owner, alert_id, change_no, due_at],
        )
        taken.push(
          ...rows.map((row) => ({ ...row, notification: JSON.parse(row.notification) as Notification })),
        )
      }
      return taken
    },
    async recover(owner) {
      const sql = 'UPDATE alert_notifications SET due_at = ?, taken_by = NULL WHERE taken_by = ?'
      await database.query(sql, [clock.now(), owner])
    },
    remove: (due, outcome) =>
      database.tx(alertsLock(due.notification.alert.workspace_id), async (session) => {
        await session.query(`DELETE FROM alert_notifications WHERE ${KEY}`, keyOf(due))
        const values = [outcome, clock.now(), due.alert_id]
        await session.query('UPDATE alerts SET delivery = ?, delivery_at = ? WHERE id = ?', values)
      }),
    async putOff(due, due_at, tries) {
      await database.query(
        `UPDATE alert_notifications SET due_at = ?, taken_by = NULL, tries = ? WHERE ${KEY} AND due_at = ?`,
        [due_at, tries, ...keyOf(due), due.due_at],
      )
    },
    async nextDue() {
      const sql = `SELECT min(due_at) AS next FROM alert_notifications AS n WHERE ${FIRST}`
      const [row] = await database.query<{ next: number | null }>(sql)
      return row?.next ?? undefined
    },
  }
}
