import { AppError, toAppError } from '../../../base/errors.ts'
import type { ClickHouse } from '../connect.ts'
import { systemRows } from '../cluster/layout.ts'
import { changeSchema } from '../migrate.ts'

/** Where fragments move to, and how many days after their receipt. */
export interface ColdStorage {
  /** A storage policy of the server; its last volume gets them. */
  readonly policy: string
  readonly days: number
}

/** The last volume of the policy. @throws AppError config_invalid unless the policy has a volume besides its first one */
export async function coldVolume(
  { serverRows }: Pick<ClickHouse, 'serverRows'>,
  { policy }: ColdStorage,
): Promise<string> {
  const volumes = await serverRows<{ name: string }>(
    'SELECT volume_name AS name FROM system.storage_policies WHERE policy_name = {policy:String} ORDER BY volume_priority',
    { policy },
  )
  const last = volumes.at(-1)
  if (last !== undefined && volumes.length > 1) return last.name
  const why = last === undefined ? 'the server has no such policy' : `it has no volume besides "${last.name}"`
  throw refused(policy, `${why}: system.storage_policies lists those it has.`)
}

/**
 * Gives the table of fragments the policy, and lets ClickHouse move them to its last volume. Changes nothing when this is
 * so already. @throws AppError config_invalid when the policy lacks the volumes of the present one
 */
export async function applyColdStorage(clickhouse: ClickHouse, cold: ColdStorage): Promise<void> {
  const volume = await coldVolume(clickhouse, cold)
  const ttl = `toDateTime(received_at) + toIntervalDay(${cold.days}) TO VOLUME '${volume.replaceAll("'", "\\'")}'`
  const [table] = await clickhouse.rows<{ storage_policy: string; definition: string }>(
    `SELECT storage_policy, create_table_query AS definition FROM ${systemRows('tables', 'fragments', clickhouse)}`,
  )
  const change = async (sql: string): Promise<void> => {
    await changeSchema(clickhouse, `ALTER TABLE fragments ${sql}`, { settings: { mutations_sync: 0 } })
  }
  try {
    if (table?.storage_policy !== cold.policy)
      await change(`MODIFY SETTING storage_policy = '${cold.policy}'`)
    if (table?.definition.includes(ttl) !== true) await change(`MODIFY TTL ${ttl}`)
  } catch (thrown) {
    const { code, cause } = toAppError(thrown)
    if (code === 'store_unavailable') throw thrown
    throw refused(cold.policy, cause instanceof Error ? cause.message : String(thrown))
  }
}

function refused(policy: string, reason: string): AppError {
  return new AppError('config_invalid', {
    message: `CLICKHOUSE_STORAGE_POLICY is "${policy}", which cannot be used: ${reason}`,
  })
}
