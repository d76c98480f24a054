import type { ManagedKind, ManagedRecords } from '../../../identity/managed-records.ts'
import type { SqlSession } from '../driver/database.ts'

/** Marks of managed records in a SQL database that has been migrated. `replace` belongs into a transaction. */
export function createManagedRecords(session: SqlSession): ManagedRecords {
  const ids = async (organization_id: string, kind: ManagedKind): Promise<ReadonlySet<string>> => {
    const sql = 'SELECT record_id FROM managed_records WHERE organization_id = ? AND kind = ?'
    const rows = await session.query<{ record_id: string }>(sql, [organization_id, kind])
    return new Set(rows.map(({ record_id }) => record_id))
  }
  return {
    ids,
    async replace(organization_id, kind, wanted) {
      const before = await ids(organization_id, kind)
      const after = new Set(wanted)
      const where = 'organization_id = ? AND kind = ? AND record_id = ?'
      for (const id of [...before].filter((one) => !after.has(one)))
        await session.query(`DELETE FROM managed_records WHERE ${where}`, [organization_id, kind, id])
      for (const id of [...after].filter((one) => !before.has(one)))
        await session.query(
          'INSERT INTO managed_records (organization_id, kind, record_id) VALUES (?, ?, ?)',
          [organization_id, kind, id],
        )
    },
  }
}
