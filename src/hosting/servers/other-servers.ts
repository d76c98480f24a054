import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import type { Config } from '../../config.ts'
import { readGraphsProject } from '../graphs-deployment.ts'
import { RUN_VERSION } from '../../runs/state.ts'
import {
  type AnnouncedServer,
  DEAD_MS,
  graphName,
  type RegisteredServer,
  type ServerRegistry,
} from '../../storage/sql/server-registry.ts'
import { instanceOf } from '../../storage/own-stores.ts'
import { settingDifferences, type SettingPrints, settingPrints } from './shared-settings.ts'

export interface JoiningParts {
  config: Pick<
    Config,
    'databaseUrl' | 'blobUrl' | 'clickhouseUrl' | 'dataDir' | 'redisUrl' | 'deploy' | 'runs' | 'hosted'
  >
  logger: Logger
  stopping: AbortSignal
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

const EVERY_MS = 5_000
const LOOK_MS = 1_000
/** Time for which a start waits for conflicting servers, because a killed server stays registered for a while. */
const PATIENCE_MS = DEAD_MS + EVERY_MS

/**
 * Registers this server, until it ends, among those that share the Postgres of DATABASE_URL. Resolves with the number
 * of other running servers that started earlier. Two servers cannot run together if one of them stores attachments in
 * its own files, or if they encrypt with different keys.
 * @throws AppError config_invalid if such a server is still registered after `patienceMs`
 */
export async function joinServers(
  parts: JoiningParts,
  { servers, installation_id }: { servers: ServerRegistry | undefined; installation_id: string },
  patienceMs = PATIENCE_MS,
): Promise<number> {
  const { config, logger, stops } = parts
  if (servers === undefined) return 0
  const settings = await settingPrints(config, installation_id)
  const own: JoiningServer = {
    instance_id: await instanceOf(config),
    blobs: config.blobUrl === undefined ? 'local' : 'shared',
    settings,
    graphs: await graphsOf(config),
    run_version: RUN_VERSION,
  }
  stops.defer(() => servers.withdraw())
  const others = await withoutConflict(parts, { own, patienceMs }, () => servers.announce(own))
  warnOfDifferences(parts, own, others)
  const timer = setInterval(() => {
    servers
      .announce(own)
      .catch((error: unknown) => logger.debug({ err: error }, 'could not announce this server to the others'))
  }, EVERY_MS)
  stops.defer(() => clearInterval(timer))
  return others.length
}

/** This server, with the fingerprints of its settings. */
type JoiningServer = AnnouncedServer & { settings: SettingPrints }

async function graphsOf(config: Pick<Config, 'hosted' | 'runs'>): Promise<string[]> {
  const project = await readGraphsProject(config)
  return (project?.file.graphs ?? []).map(({ graph_id }) => graphName(project?.name ?? '', graph_id))
}

/**
 * Warns about differences between the settings of servers that can still run together. The settings may differ while
 * servers are restarted one by one.
 */
function warnOfDifferences(
  { config, logger }: JoiningParts,
  own: JoiningServer,
  others: readonly RegisteredServer[],
): void {
  const apart = others.filter(({ instance_id }) => instance_id !== own.instance_id)
  if (apart.length > 0 && config.clickhouseUrl === undefined)
    logger.warn(
      { servers: apart.length },
      'other servers share the database of DATABASE_URL, and traces are in a ClickHouse of this server alone: the others do not find them. Set CLICKHOUSE_URL.',
    )
  const found = apart.flatMap(({ settings }) => settingDifferences(own.settings, settings))
  const code = 'config_invalid'
  for (const words of new Set(found.map((one) => one.words))) logger.warn({ code }, words)
}

/** Returns the other servers, once none of them is in conflict with this one. */
async function withoutConflict(
  { logger, stopping }: JoiningParts,
  { own, patienceMs }: { own: JoiningServer; patienceMs: number },
  announce: () => Promise<RegisteredServer[]>,
): Promise<RegisteredServer[]> {
  const until = performance.now() + patienceMs
  for (let turn = 0; !stopping.aborted; turn++) {
    const others = await announce()
    const conflict = others.map((other) => conflictOf(own, other)).find((words) => words !== undefined)
    if (conflict === undefined) return others
    const message = `Another server uses the database of DATABASE_URL, and ${conflict}, or stop the other server.`
    if (performance.now() > until) throw new AppError('config_invalid', { message })
    if (turn === 0) logger.warn(`${message} This start waits until the other one has ended.`)
    await pause(LOOK_MS, stopping)
  }
  return []
}

/** Returns why the two servers cannot run at the same time, and a solution; undefined if they can. */
function conflictOf(own: JoiningServer, other: RegisteredServer): string | undefined {
  // An earlier process on the same DATA_DIR has the same files.
  if (other.instance_id === own.instance_id) return undefined
  if (own.blobs === 'local' || other.blobs === 'local') {
    const which = own.blobs === 'local' ? 'this server stores' : 'the other one stores'
    return `${which} attachments in files that only it can read. Set BLOB_URL to the same bucket or shared folder on all servers`
  }
  const fatal = settingDifferences(own.settings, other.settings).find(({ isFatal }) => isFatal)
  return fatal && `it has another ${fatal.name}. Set the same one on all servers`
}
