import type pg from 'pg'
import type { Logger } from '../../../../base/log.ts'
import type { LockTable } from '../../../clickhouse/cluster/insert-turns.ts'
import { nodePostgres } from './pg.ts'

/**
 * Connections of each server for these locks: each step of a batch inserts into at most two tables at the same time, and
 * two batches overlap.
 */
export const LOCK_CONNECTIONS = 4
/** Time limit of the wait for a lock. After it, the insert is sent without one, and ClickHouse may refuse it. */
const WAIT_MS = 30_000
const CONNECT_MS = 5_000
const KEY = "hashtextextended('weir inserts into ' || $1, 0)"

/** Locks of tables of ClickHouse, over all servers that share a Postgres database. */
export interface TableLocks {
  /** While Postgres does not answer, resolves without a lock. */
  lock: LockTable
  close(): Promise<void>
}

/**
 * Opens the locks: advisory locks of Postgres, which lets servers wait in order. A lock ends with its connection, and
 * so with its server.
 */
export function openTableLocks({ url, logger }: { url: string; logger: Logger }): TableLocks {
  const { Pool } = nodePostgres()
  const pool = new Pool({
    connectionString: url,
    application_name: 'weir inserts',
    keepAlive: true,
    max: LOCK_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    lock_timeout: WAIT_MS,
  })
  pool.on('error', () => undefined)

  async function unlock(client: pg.PoolClient, table: string): Promise<void> {
    try {
      await client.query(`SELECT pg_advisory_unlock(${KEY})`, [table])
      client.release()
    } catch {
      client.release(true)
    }
  }

  return {
    async lock(table) {
      let client: pg.PoolClient | undefined
      try {
        client = await pool.connect()
        const locked = client
        await locked.query(`SELECT pg_advisory_lock(${KEY})`, [table])
        return () => unlock(locked, table)
      } catch (error) {
        client?.release(true)
        logger.warn({ err: error, table }, 'an insert into ClickHouse is sent without a lock of its table')
        return async () => undefined
      }
    },
    close: () => pool.end(),
  }
}
