import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { toAppError } from '../base/errors.ts'
import { syncDirectory } from '../base/files/sync-directory.ts'
import { newUuid } from '../base/ids.ts'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { retry } from '../base/retry.ts'
import type { OpenedClickHouse } from './clickhouse/open.ts'
import {
  clickHouseStore,
  folderStore,
  type Installation,
  type MarkedStore,
  sqlStore,
} from './installation.ts'
import type { Database } from './sql/driver/database.ts'
import { keptValue } from './files/kept-value.ts'

/** Where the stores of a server are: its own folder, and servers that others may use too. */
export interface StorePlaces {
  dataDir: string
  /** Undefined for the embedded engine. */
  clickhouseUrl: string | undefined
  /** Undefined if attachments are in `dataDir`. */
  blobUrl: string | undefined
}

/** Time for which a start waits for a server's answer about the stored installation id. */
export const CLAIM_MS = 5_000
const RETRY_MS = 1_000

/**
 * Checks that ClickHouse belongs to the same installation as the other stores. A server that is down is checked once it
 * answers. `ready` of the result resolves only after a successful check, so that nothing is stored before. An abort of
 * `stopping` ends the wait.
 */
export async function claimClickHouse(
  { config, logger, stopping }: { config: StorePlaces; logger: Logger; stopping: AbortSignal },
  clickhouse: OpenedClickHouse,
  installation: Pick<Installation, 'claim'>,
): Promise<OpenedClickHouse & { check(): Promise<void> }> {
  const { connection } = clickhouse
  const isEmbedded = config.clickhouseUrl === undefined
  const store = await markedClickHouse(config, connection)
  let outcome: (() => Promise<void>) | undefined
  const claimed = clickhouse.ready
    .then(() => claimWhenUp(installation, store, stopping))
    // A server that stops must not begin to store.
    .then((check) => (check === undefined ? new Promise<void>(() => undefined) : void (outcome = check)))
  const isUp = isEmbedded || (await connection.ping())
  if (isUp) await Promise.race([claimed, pause(CLAIM_MS, stopping)])
  const ready = claimed.catch((error: unknown) => {
    logger.error({ err: error }, 'ClickHouse is not used: it is not the store of this installation')
    outcome = () => Promise.reject(toAppError(error))
    return new Promise<void>(() => undefined)
  })
  // A single statement, because the time of a check is limited, and each round trip takes time.
  const answers = async (): Promise<void> => {
    const failure = clickhouse.failure()
    if (failure !== undefined) throw failure
    await connection.rows('SELECT 1 AS one')
  }
  return { ...clickhouse, ready, check: () => (outcome ?? answers)() }
}

/**
 * The store of an embedded ClickHouse, whose name contains the id of this server, because servers that share a database
 * have one each.
 */
async function markedClickHouse(
  config: StorePlaces,
  connection: OpenedClickHouse['connection'],
): Promise<MarkedStore> {
  if (config.clickhouseUrl !== undefined)
    return clickHouseStore('clickhouse', 'The ClickHouse of CLICKHOUSE_URL', connection)
  const place = join(resolve(config.dataDir), 'clickhouse')
  return clickHouseStore(`clickhouse ${await instanceOf(config)}`, place, connection)
}

/** Claims a store, and retries until the store answers. Undefined if `stopping` aborts before that. */
export async function claimWhenUp(
  installation: Pick<Installation, 'claim'>,
  store: MarkedStore,
  stopping: AbortSignal,
): Promise<(() => Promise<void>) | undefined> {
  return await retry(() => installation.claim(store), {
    pauses: [RETRY_MS],
    mayRetry: (error) => toAppError(error).retryable,
    signal: stopping,
  })
}

/** Claims the run database; resolves with a check that it is still the same one. */
export function claimRuns(
  installation: Installation,
  { url, file }: { url: string | undefined; file: string },
  database: Database,
): Promise<() => Promise<void>> {
  const place = url === undefined ? file : 'The schema weir_runs of DATABASE_URL'
  return installation.claim(sqlStore('runs', place, database))
}

/**
 * Claims a store on a server once it answers. `claimed` then resolves, or rejects if the store belongs to another
 * installation; later calls of `check` do the same.
 */
export function claimLater(
  installation: Pick<Installation, 'claim'>,
  store: MarkedStore,
  { logger, stopping }: { logger: Logger; stopping: AbortSignal },
): { claimed: Promise<void>; check(): Promise<void> } {
  let check = (): Promise<void> => Promise.resolve()
  const claimed = claimWhenUp(installation, store, stopping).then((found) => void (check = found ?? check))
  claimed.catch((error: unknown) => {
    logger.error({ err: error }, `${store.place} belongs to another installation`)
    check = () => Promise.reject(toAppError(error))
  })
  return { claimed, check: () => check() }
}

/** Claims the folders of this server; resolves with a check that they are still the same ones. */
export async function claimFolders(
  config: StorePlaces,
  installation: Installation,
): Promise<() => Promise<void>> {
  const { dataDir } = config
  const instance = await instanceOf(config)
  // Attachments that servers share are claimed as a store of the whole installation.
  const names = config.blobUrl === undefined ? ['ingest-log', 'blobs'] : ['ingest-log']
  const folders = names.map((name) => ({ name, path: join(resolve(dataDir), name) }))
  for (const { path } of folders) await mkdir(path, { recursive: true, mode: 0o700 })
  // The names are synced before the claims, so that after a power cut the database lists no folder that does not exist.
  await syncDirectory(resolve(dataDir))
  const checks: (() => Promise<void>)[] = []
  for (const { name, path } of folders)
    checks.push(await installation.claim(folderStore(`${name} ${instance}`, path)))
  return async () => {
    for (const check of checks) await check()
  }
}

/** The id of DATA_DIR; it stays the same after restarts. */
export function instanceOf({ dataDir }: Pick<StorePlaces, 'dataDir'>): Promise<string> {
  return keptValue(resolve(dataDir), 'instance-id', newUuid)
}
