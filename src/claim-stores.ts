import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toAppError } from './base/errors.ts'
import { newUuid } from './base/ids.ts'
import type { Logger } from './base/log.ts'
import type { Config } from './config.ts'
import type { OpenedClickHouse } from './storage/clickhouse/open.ts'
import {
  clickHouseStore,
  folderStore,
  type Installation,
  type MarkedStore,
  redisStore,
  sqlStore,
} from './storage/installation.ts'
import type { RedisConnection } from './storage/redis/redis.ts'
import type { Database } from './storage/sql/database.ts'
import { keptValue } from './storage/kept-value.ts'

/** How long a start waits to be told whether a ClickHouse server is the one that it was. */
const CLAIM_MS = 5_000
const RETRY_MS = 1_000

/**
 * Makes sure that this is the ClickHouse that the others belong with. One that is away is looked at when it is back:
 * until then, and for as long as it is another one, nothing is stored in it.
 */
export async function claimClickHouse(
  { config, logger }: { config: Config; logger: Logger },
  clickhouse: OpenedClickHouse,
  installation: Installation,
): Promise<OpenedClickHouse & { check(): Promise<void> }> {
  const { connection } = clickhouse
  const isEmbedded = config.clickhouseUrl === undefined
  const store = await markedClickHouse(config, connection)
  let outcome: (() => Promise<void>) | undefined
  const claimed = clickhouse.ready
    .then(() => claimWhenUp(installation, store))
    .then((check) => void (outcome = check))
  const isUp = isEmbedded || (await connection.ping())
  if (isUp) await Promise.race([claimed, delay(CLAIM_MS, undefined, { ref: false })])
  const ready = claimed.catch((error: unknown) => {
    logger.error({ err: error }, 'ClickHouse is not used: it is not the one that it was')
    outcome = () => Promise.reject(toAppError(error))
    return new Promise<void>(() => undefined)
  })
  return { ...clickhouse, ready, check: async () => outcome?.() }
}

/** An embedded one is the server's own: of several servers that share a database each has another. */
async function markedClickHouse(
  config: Config,
  connection: OpenedClickHouse['connection'],
): Promise<MarkedStore> {
  if (config.clickhouseUrl !== undefined)
    return clickHouseStore('clickhouse', 'The ClickHouse of CLICKHOUSE_URL', connection)
  const place = join(resolve(config.dataDir), 'clickhouse')
  return clickHouseStore(`clickhouse ${await instanceOf(config)}`, place, connection)
}

/** Tries again for as long as a store does not answer. */
async function claimWhenUp(
  installation: Pick<Installation, 'claim'>,
  store: MarkedStore,
): Promise<() => Promise<void>> {
  for (;;) {
    try {
      return await installation.claim(store)
    } catch (error) {
      if (!toAppError(error).retryable) throw error
    }
    await delay(RETRY_MS, undefined, { ref: false })
  }
}

/** Claims the database of runs; resolves with its check. */
export function claimRuns(
  installation: Installation,
  { url, file }: { url: string | undefined; file: string },
  database: Database,
): Promise<() => Promise<void>> {
  const place = url === undefined ? file : 'The schema weir_runs of DATABASE_URL'
  return installation.claim(sqlStore('runs', place, database))
}

/** Claims the Redis of events when it answers; the check says when it is that of another installation. */
export function claimRedis(
  installation: Pick<Installation, 'claim'>,
  redis: RedisConnection,
  logger: Logger,
): () => Promise<void> {
  let check = (): Promise<void> => Promise.resolve()
  claimWhenUp(installation, redisStore(redis)).then(
    (claimed) => (check = claimed),
    (error: unknown) => {
      logger.error({ err: error }, 'Redis belongs to another installation')
      check = () => Promise.reject(toAppError(error))
    },
  )
  return () => check()
}

/** Claims the folders of this server; resolves with their check. */
export async function claimFolders(config: Config, installation: Installation): Promise<() => Promise<void>> {
  const { dataDir } = config
  const instance = await instanceOf(config)
  const checks: (() => Promise<void>)[] = []
  for (const folder of ['ingest-log', 'blobs'])
    checks.push(
      await installation.claim(folderStore(`${folder} ${instance}`, join(resolve(dataDir), folder))),
    )
  return async () => {
    for (const check of checks) await check()
  }
}

/** The id of the server that keeps its files in DATA_DIR. */
function instanceOf({ dataDir }: Pick<Config, 'dataDir'>): Promise<string> {
  return keptValue(resolve(dataDir), 'instance-id', newUuid)
}
