import { retry } from '../../base/retry.ts'
import { type AppError, toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { assertSupported } from './assert-supported.ts'
import { type ClickHouse, connectClickHouse } from './connect.ts'
import { superviseEmbeddedClickHouse } from './embedded/supervise.ts'
import type { AsLeader } from '../sql/driver/postgres/migration-leader.ts'
import type { InsertTurns } from './cluster/insert-turns.ts'
import type { Layout } from './cluster/layout.ts'
import { noteShards } from './cluster/made-for.ts'
import { applyColdStorage, type ColdStorage, coldVolume } from './fragments/cold-storage.ts'
import { migrate } from './migrate.ts'

/** The configured engine, connected and supervised. */
export interface OpenedClickHouse {
  connection: ClickHouse
  /**
   * Resolves when the schema is migrated. A server that is unreachable at the start is migrated when it can be reached.
   * Rejects with AppError config_invalid for a server that is not supported.
   */
  ready: Promise<void>
  /** Why the last attempt to migrate failed; undefined before it, and when the schema is migrated. */
  failure(): AppError | undefined
  stop(): Promise<void>
}

/** The database of the embedded engine, and of a CLICKHOUSE_URL that names none. */
export const EMBEDDED_DATABASE = 'weir'
const RETRY_MS = 1_000
/** One in this number of failed attempts is logged. */
const LOG_EVERY = 30

/**
 * Connects to the server at `url`, or starts the embedded engine in `dataDir` and restarts it whenever it exits. The
 * embedded engine is migrated when this resolves; a server may still be unreachable then.
 */
export async function openClickHouse(options: {
  url: string | undefined
  /** What the ClickHouse at `url` consists of; default: a single server. */
  layout?: Layout
  cold?: ColdStorage | undefined
  turns?: InsertTurns | undefined
  /** Undefined if no other server migrates the store. */
  asLeader?: AsLeader | undefined
  dataDir: string
  logger: Logger
}): Promise<OpenedClickHouse> {
  return options.url === undefined
    ? openEmbedded(options.dataDir, options.logger)
    : openServer({ ...options, url: options.url })
}

/** The URL and the database in CLICKHOUSE_URL. The database is the path of the URL; without a path it is `weir`. */
export function serverPlace(text: string): { url: string; database: string } {
  const url = new URL(text)
  const database = decodeURIComponent(url.pathname).replaceAll('/', '')
  url.pathname = ''
  return { url: url.href, database: database === '' ? EMBEDDED_DATABASE : database }
}

interface ServerOptions {
  url: string
  layout?: Layout
  cold?: ColdStorage | undefined
  turns?: InsertTurns | undefined
  asLeader?: AsLeader | undefined
  logger: Logger
}

function openServer({ url, layout, cold, turns, logger, asLeader }: ServerOptions): OpenedClickHouse {
  const connection = connectClickHouse({ ...serverPlace(url), ...(layout && { layout }), turns })
  const stopping = new AbortController()
  const migrateServer = async (): Promise<void> => {
    await migrate(connection, { logger, shared: true })
    await noteShards(connection)
    if (cold !== undefined) await applyColdStorage(connection, cold)
  }
  const migrations = (): Promise<unknown> =>
    asLeader === undefined ? migrateServer() : asLeader('clickhouse', migrateServer)
  let failure: AppError | undefined
  const noteFailure = (error: AppError | undefined): void => {
    failure = error
  }
  const ready = migrateWhenUp({ connection, cold, migrations, logger, noteFailure, signal: stopping.signal })
  // Callers that await `ready` get the error.
  ready.catch(() => undefined)
  return {
    connection,
    ready,
    failure: () => failure,
    stop: async () => {
      stopping.abort()
      await connection.close()
    },
  }
}

/**
 * The error for a server that is not supported; undefined for a supported one. A server that does not permit the
 * queries of this check counts as supported.
 */
async function refusalOf(
  connection: ClickHouse,
  cold: ColdStorage | undefined,
): Promise<AppError | undefined> {
  try {
    await assertSupported(connection)
    if (cold !== undefined) await coldVolume(connection, cold)
    return undefined
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error.retryable) throw error
    return error.code === 'config_invalid' ? error : undefined
  }
}

/**
 * Migrates as soon as the server is reachable. Never resolves if a stop comes first. @throws AppError config_invalid
 * for a server that is not supported
 */
async function migrateWhenUp({
  connection,
  cold,
  migrations,
  logger,
  noteFailure,
  signal,
}: {
  connection: ClickHouse
  cold: ColdStorage | undefined
  migrations(): Promise<unknown>
  logger: Logger
  /** Called after each attempt. */
  noteFailure(error: AppError | undefined): void
  signal: AbortSignal
}): Promise<void> {
  let refusal: AppError | undefined
  const work = async (): Promise<true> => {
    refusal = await refusalOf(connection, cold)
    if (refusal !== undefined) throw refusal
    await migrations()
    noteFailure(undefined)
    return true
  }
  const migrated = await retry(work, {
    pauses: [RETRY_MS],
    signal,
    mayRetry: (error) => error !== refusal,
    onRetry(error, failures) {
      const failure = toAppError(error)
      const { code, message, cause } = failure
      noteFailure(failure)
      const reason = (code === 'store_unavailable' && cause instanceof Error && cause.message) || message
      if (failures % LOG_EVERY === 1) logger.error({ err: error, code }, `ClickHouse is not ready: ${reason}`)
    },
  })
  if (migrated === undefined) await new Promise(() => undefined)
}

async function openEmbedded(dataDir: string, logger: Logger): Promise<OpenedClickHouse> {
  const engine = await superviseEmbeddedClickHouse({ dataDir, logger })
  const { url, username, password, rowsFolder } = engine
  const connection = connectClickHouse({ url, username, password, rowsFolder, database: EMBEDDED_DATABASE })
  const stop = async (): Promise<void> => {
    await connection.close()
    await engine.stop()
  }
  try {
    await migrate(connection, { logger })
  } catch (error) {
    await stop()
    throw error
  }
  return { connection, ready: Promise.resolve(), failure: () => undefined, stop }
}
