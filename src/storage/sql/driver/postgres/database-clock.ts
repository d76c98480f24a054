import { type Clock, systemClock } from '../../../../base/clock.ts'
import type { Logger } from '../../../../base/log.ts'
import type { Database } from '../database.ts'

/** SQL on Postgres: epoch milliseconds of the database's clock. */
export const DATABASE_NOW = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)'

const EVERY_MS = 5_000

export interface DatabaseClockParts {
  logger: Logger
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
  everyMs?: number
  /** Clock whose monotonic time is used. On Postgres, its time of day is not used. */
  durations?: Clock
}

/**
 * Starts a clock that is the same for all servers of a database, even if the clocks of their machines differ. On
 * Postgres it is the database's clock, read at the start and every 5 s; a monotonic clock of this process measures the
 * time in between. On SQLite it is the machine's clock. @throws AppError store_unavailable when the first reading fails
 */
export async function startDatabaseClock(
  database: Pick<Database, 'dialect' | 'query'>,
  { logger, stops, everyMs = EVERY_MS, durations = systemClock }: DatabaseClockParts,
): Promise<Clock> {
  if (database.dialect !== 'postgres') return durations
  const steady = (): number => durations.steady()
  /** Measures `offset`: the time of the database is `steady() + offset`, with an error of at most `error`. */
  const measure = async (): Promise<{ offset: number; error: number }> => {
    const before = steady()
    const [row] = await database.query<{ now: number }>(`SELECT ${DATABASE_NOW} AS now`)
    const error = (steady() - before) / 2
    return { offset: (row?.now ?? 0) - before - error, error }
  }
  let { offset } = await measure()
  const timer = setInterval(() => {
    measure()
      .then((found) => {
        // A difference that the error of the measurement can explain is ignored, so that the clock does not jump.
        if (Math.abs(found.offset - offset) > found.error + 1) offset = found.offset
      })
      .catch((error: unknown) => logger.debug({ err: error }, "the database's clock could not be read"))
  }, everyMs)
  timer.unref()
  stops.defer(() => clearInterval(timer))
  return { now: () => Math.round(steady() + offset), steady }
}
