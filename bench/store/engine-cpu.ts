import type { ClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { until } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'

/** What the engine has used so far. */
export interface Used {
  /** Milliseconds of CPU. */
  cpu: number
  /** Rows read. */
  rows: number
}

export async function usedBy(db: ClickHouse): Promise<Used> {
  const [row] = await db.rows<Used>(
    `SELECT sumIf(value, event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')) / 1000 AS cpu,
       sumIf(value, event = 'SelectedRows') AS rows FROM system.events`,
  )
  return row!
}

/** The medians of what the engine uses for the work, of `times` times. */
export async function medianUse(db: ClickHouse, work: () => Promise<unknown>, times: number): Promise<Used> {
  const used: Used[] = []
  for (let i = 0; i < times; i++) {
    const before = await usedBy(db)
    await work()
    const after = await usedBy(db)
    used.push({ cpu: after.cpu - before.cpu, rows: after.rows - before.rows })
  }
  const median = (of: keyof Used): number =>
    used.map((one) => one[of]).toSorted((a, b) => a - b)[Math.floor(times / 2)]!
  return { cpu: median('cpu'), rows: median('rows') }
}

/** Waits until the engine neither merges nor mutates. */
export async function atRest(db: ClickHouse): Promise<void> {
  const sql = `SELECT (SELECT count() FROM system.merges) + (SELECT count() FROM system.mutations WHERE NOT is_done) AS busy`
  const isIdle = async (): Promise<boolean> => (await db.rows<{ busy: number }>(sql)).at(0)?.busy === 0
  await until('no merges', isIdle, 600_000)
}
