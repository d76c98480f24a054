import { appendFileSync } from 'node:fs'
import type { Logger } from '../../base/log.ts'
import { toAuditRecord } from '../../identity/audit-forms.ts'
import type { AuditEntry } from '../../identity/identity-store.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { followCommits } from '../../storage/sql/driver/follow-commits.ts'

type Write = (lines: string) => void

/** Appends lines to a file, which is opened for each of them, so that it can be moved away. A failure is logged. */
function toFile(path: string, logger: Logger): Write {
  return (lines) => {
    try {
      appendFileSync(path, lines, { mode: 0o600 })
    } catch (err) {
      logger.error({ err, path }, 'AUDIT_LOG cannot be written; its lines are only in the audit')
    }
  }
}

/**
 * The database, with each record of the audit as a line of JSON at AUDIT_LOG (`stdout` or a file) once its change is
 * stored.
 */
export function withAuditLines(database: Database, auditLog: string, logger: Logger): Database {
  const write: Write =
    auditLog === 'stdout' ? (lines) => void process.stdout.write(lines) : toFile(auditLog, logger)
  return followCommits(database, (notes) => {
    const lines = (notes as AuditEntry[]).map((entry) => ({ log: 'audit', ...toAuditRecord(entry) }))
    write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  })
}
