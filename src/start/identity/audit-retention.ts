import type { Sweeps } from '../../base/background/sweeps.ts'
import { type Clock, createExpiryTime, systemClock } from '../../base/clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { forgetAudit } from '../../storage/sql/identity/audit-log.ts'

const DAY_MS = 24 * 3_600_000
const EVERY_MS = 3_600_000

/** Deletes records of the audit after AUDIT_RETENTION_DAYS, each hour. */
export function startAuditRetention(
  {
    config: { auditRetentionDays: days },
    sweeps,
    stops,
  }: {
    config: Pick<Config, 'auditRetentionDays'>
    sweeps: Sweeps
    /** Stop functions of the parts, in order of start. */
    stops: AsyncDisposableStack
  },
  database: Database,
  clock: Clock = systemClock,
): void {
  if (days === undefined) return
  const expiryTime = createExpiryTime(clock)
  const work = (): Promise<number> => forgetAudit(database, expiryTime() - days * DAY_MS)
  const sweep = sweeps.start({ name: 'audit', everyMs: EVERY_MS, work })
  stops.defer(() => sweep.stop())
}
