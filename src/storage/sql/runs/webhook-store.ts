import type { Clock } from '../../../base/clock.ts'
import type { Run, Tenant } from '../../../runs/model.ts'
import type { WebhookDue, WebhookStore } from '../../../runs/webhooks/store.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { Database } from '../driver/database.ts'

interface WebhookRow extends Tenant {
  run_id: string
  due_at: number
  tries: number
  url: string
  run: string
  run_values: string | null
}

const COLUMNS = 'run_id, deployment_id, workspace_id, due_at, tries, url, run, run_values'
const OF_RUN = 'run_id = ? AND deployment_id = ? AND workspace_id = ?'
/** SQL condition: the webhook still has this due time. Another process that takes it changes the due time. */
const UNTAKEN = `${OF_RUN} AND due_at = ?`

function toWebhook({ run, run_values, run_id: _id, ...row }: WebhookRow): WebhookDue {
  return { ...row, run: parseExact(run) as unknown as Run, values_json: run_values }
}

function keyOf({ run, deployment_id, workspace_id }: WebhookDue): string[] {
  return [run.run_id, deployment_id, workspace_id]
}

function marks(values: readonly string[]): string {
  return `(${values.map(() => '?').join(', ')})`
}

/** Webhooks in a run database that has been migrated. */
export function createWebhookStore(database: Database, clock: Clock): WebhookStore {
  return {
    async take(deployments, limit, { owner, lease_ms }) {
      if (deployments.length === 0) return []
      const now = clock.now()
      const due = await database.query<Tenant & { run_id: string; due_at: number }>(
        `SELECT run_id, deployment_id, workspace_id, due_at FROM webhooks
          WHERE due_at <= ? AND deployment_id IN ${marks(deployments)} ORDER BY due_at LIMIT ?`,
        [now, ...deployments, limit],
      )
      const taken: WebhookDue[] = []
      for (const { run_id, deployment_id, workspace_id, due_at } of due) {
        const rows = await database.query<WebhookRow>(
          `UPDATE webhooks SET due_at = ?, taken_by = ? WHERE ${UNTAKEN} RETURNING ${COLUMNS}`,
          [now + lease_ms, owner, run_id, deployment_id, workspace_id, due_at],
        )
        taken.push(...rows.map(toWebhook))
      }
      return taken
    },
    async recover(deployments, owner) {
      if (deployments.length === 0) return
      await database.query(
        `UPDATE webhooks SET due_at = ?, taken_by = NULL WHERE taken_by = ? AND deployment_id IN ${marks(deployments)}`,
        [clock.now(), owner, ...deployments],
      )
    },
    async remove(webhook) {
      await database.query(`DELETE FROM webhooks WHERE ${OF_RUN}`, keyOf(webhook))
    },
    async putOff(webhook, due_at, tries) {
      await database.query(`UPDATE webhooks SET due_at = ?, taken_by = NULL, tries = ? WHERE ${UNTAKEN}`, [
        due_at,
        tries,
        ...keyOf(webhook),
        webhook.due_at,
      ])
    },
    async nextDue(deployments) {
      if (deployments.length === 0) return undefined
      const [row] = await database.query<{ next: number | null }>(
        `SELECT min(due_at) AS next FROM webhooks WHERE due_at IS NOT NULL AND deployment_id IN ${marks(deployments)}`,
        deployments,
      )
      return row?.next ?? undefined
    },
    async sweep() {
      const rows = await database.query(
        `DELETE FROM webhooks WHERE due_at IS NULL AND NOT EXISTS (SELECT 1 FROM runs
          WHERE runs.run_id = webhooks.run_id AND runs.deployment_id = webhooks.deployment_id
          AND runs.workspace_id = webhooks.workspace_id) RETURNING run_id`,
      )
      return rows.length
    },
  }
}
