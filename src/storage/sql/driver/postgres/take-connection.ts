import type pg from 'pg'
import { AppError } from '../../../../base/errors.ts'
import { retry, type RetryOptions } from '../../../../base/retry.ts'
import { nodePostgres } from './pg.ts'

export interface ConnectionOptions {
  /** Maximum number of connections of the pool. */
  size: number
  /** Waiting work fails if no connection is returned for this time. */
  patienceMs: number
}

/** Hands out the connections of a pool in the order of the requests. */
export interface ConnectionQueue {
  /** @throws AppError store_unavailable when Postgres cannot be reached, or after `patienceMs` without a free connection */
  take(): Promise<pg.PoolClient>
  /**
   * Returns a connection to the pool. If it is `lost`, it is closed instead, and the requests that wait keep their time
   * limit.
   */
  give(client: pg.PoolClient, lost: boolean): void
}

/** Postgres's code for the limit of connections of the server, the database or the role. */
const TOO_MANY = '53300'
/** Pauses before further attempts; the last pause is repeated. */
const PAUSES_MS: RetryOptions['pauses'] = [50, 100, 200, 400, 800]

/**
 * Hands out connections in the order of the requests. While all are in use, work waits. It fails only if no connection
 * is returned for `patienceMs`, so that a lot of simultaneous work is slow but does not fail. Work also waits if
 * Postgres accepts no further connection, for at most `patienceMs`.
 */
export function createConnectionQueue(
  pool: Pick<pg.Pool, 'connect'>,
  { size, patienceMs }: ConnectionOptions,
): ConnectionQueue {
  const waiting = new Set<PromiseWithResolvers<void>>()
  let taken = 0
  let freedAt = -Infinity

  const enter = async (): Promise<void> => {
    if (taken < size) {
      taken++
      return
    }
    const waiter = Promise.withResolvers<void>()
    waiting.add(waiter)
    const since = performance.now()
    const left = (): number => Math.max(since, freedAt) + patienceMs - performance.now()
    let timer: NodeJS.Timeout
    const look = (): void => {
      if (left() > 0) timer = setTimeout(look, left())
      else if (waiting.delete(waiter)) waiter.reject(tooFew(size))
    }
    look()
    await waiter.promise.finally(() => clearTimeout(timer))
  }
  /** Passes the place in the pool to the next request in the queue. */
  const leave = (): void => {
    const [next] = waiting
    if (next === undefined) {
      taken--
      return
    }
    waiting.delete(next)
    next.resolve()
  }
  return {
    async take() {
      await enter()
      try {
        return await connect(pool, patienceMs)
      } catch (error) {
        leave()
        throw error
      }
    },
    give(client, lost) {
      client.release(lost)
      if (!lost) freedAt = performance.now()
      leave()
    },
  }
}

/** Opens a connection. If Postgres accepts no further one, tries again for up to `patienceMs`. */
async function connect(pool: Pick<pg.Pool, 'connect'>, patienceMs: number): Promise<pg.PoolClient> {
  const until = performance.now() + patienceMs
  try {
    return await retry(() => pool.connect(), {
      pauses: PAUSES_MS,
      mayRetry: (error) => isTooMany(error) && performance.now() < until,
    })
  } catch (cause) {
    const message = isTooMany(cause) ? `Postgres accepts no more connections: ${cause.message}` : undefined
    throw new AppError('store_unavailable', { ...(message !== undefined && { message }), cause })
  }
}

function isTooMany(error: unknown): error is pg.DatabaseError {
  return error instanceof nodePostgres().DatabaseError && error.code === TOO_MANY
}

function tooFew(size: number): AppError {
  return new AppError('store_unavailable', {
    message: `All ${size} connections to Postgres that this part of the server may use are in use.`,
  })
}
