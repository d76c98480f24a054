import { AppError } from '../../../../base/errors.ts'
import type { Logger } from '../../../../base/log.ts'
import { pause } from '../../../../base/pause.ts'
import { nodePostgres } from './pg.ts'

/** The database in which servers elect the one that migrates, and the signal that ends the wait. */
export interface LeaderPlace {
  /** URL of the Postgres database that the servers share. */
  url: string
  logger: Logger
  /** Aborts to end the wait. */
  stopping: AbortSignal
}

/** Runs the migrations of a store while no other server runs them. `store` names the store in the log. */
export type AsLeader = <T>(store: string, migrations: () => Promise<T>) => Promise<T>

const CONNECT_TIMEOUT_MS = 5_000
const LOOK_MS = 250
const TELL_EVERY = 120

/**
 * Elects the server that migrates, so that servers that start at the same time migrate one after the other. The leader
 * holds an advisory lock of a Postgres session, even while it migrates ClickHouse. The lock ends with the connection:
 * if the leader ends, a waiting server becomes the leader and runs the missing migrations. Waiting servers log the
 * reason. @throws AppError store_unavailable
 */
export function migrationLeader({ url, logger, stopping }: LeaderPlace): AsLeader {
  return async (store, migrations) => {
    const { Client } = nodePostgres()
    const client = new Client({
      connectionString: url,
      application_name: 'weir migrations',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    })
    client.on('error', () => undefined)
    try {
      for (let turn = 0; !(await takeLock(client, store, turn === 0)); turn++) {
        if (turn % TELL_EVERY === 0)
          logger.info({ store }, 'another server migrates this store; this start waits until it has ended')
        await pause(LOOK_MS, stopping)
        if (stopping.aborted) throw new AppError('store_unavailable', { message: 'The start was stopped.' })
      }
      return await migrations()
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

async function takeLock(
  client: InstanceType<ReturnType<typeof nodePostgres>['Client']>,
  store: string,
  isFirst: boolean,
): Promise<boolean> {
  try {
    if (isFirst) await client.connect()
    const { rows } = await client.query<{ taken: boolean }>(
      "SELECT pg_try_advisory_lock(hashtextextended('weir migrations of ' || $1, 0)) AS taken",
      [store],
    )
    return rows[0]?.taken ?? false
  } catch (error) {
    const reason = error instanceof Error && error.message ? error.message : 'it does not answer'
    const message = `The database of DATABASE_URL cannot be used: ${reason}`
    throw new AppError('store_unavailable', { message, cause: error })
  }
}
