import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { type DeploymentFile, readDeploymentFile } from '../project/deployment-file.ts'
import type { GraphHost } from '../../runs/execute/graph-host.ts'
import type { GraphHosts } from './pool.ts'
import { watchFiles } from './watch-files.ts'

/** Actions for a deployment whose files have changed. */
export interface DeploymentReload {
  hosts: Pick<GraphHosts, 'reload' | 'ready' | 'graphs'>
  /** Applies the changed langgraph.json. It is called after the hosts have begun to reload. */
  accept(file: DeploymentFile): Promise<void>
}

export interface DeploymentWatch {
  /** Watches modules that hosts have loaded. */
  add(files: Iterable<string>): void
  /** Starts reacting to changes. */
  begin(reload: DeploymentReload): void
  close(): void
}

/** The parts of langgraph.json, by name, whose changes need a restart of the server. */
function readAtStart(file: DeploymentFile): Record<string, unknown> {
  const { configurable_headers: _, ...http } = file.http
  const { webhooks, ui, store_index, store_ttl, checkpointer_ttl } = file
  const auth = file.auth && { disable_studio_auth: file.auth.disable_studio_auth }
  return { auth, webhooks, http, ui, store: { store_index, store_ttl }, checkpointer: checkpointer_ttl }
}

function changedAtStart(before: DeploymentFile, after: DeploymentFile): string[] {
  const old = readAtStart(before)
  return Object.entries(readAtStart(after))
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]))
    .map(([name]) => name)
}

interface WatchOptions {
  environment: Readonly<Record<string, string | undefined>>
  logger: Logger
}

/** Reads the file again. Returns undefined if its current content is invalid. */
async function readAgain(
  before: DeploymentFile,
  { environment, logger }: WatchOptions,
): Promise<DeploymentFile | undefined> {
  try {
    const next = await readDeploymentFile(before.path, environment)
    const late = changedAtStart(before, next)
    if (late.length > 0) logger.warn({ changed: late }, 'these changes of langgraph.json need a restart')
    return next
  } catch (error) {
    const reason = error instanceof AppError ? error.message : String(error)
    logger.error({ reason }, 'langgraph.json cannot be used: its last valid version stays in use')
    return undefined
  }
}

/**
 * Watches langgraph.json, its env and auth files and the modules that hosts load, and reloads the graphs when one of them
 * changes. An invalid langgraph.json is logged and ignored. The result of each reload is logged.
 */
export function watchDeployment(options: WatchOptions & { file: DeploymentFile }): DeploymentWatch {
  const { logger } = options
  let { file } = options
  let reload: DeploymentReload | undefined
  let working: Promise<void> = Promise.resolve()
  let reloads = 0

  async function act({ hosts, accept }: DeploymentReload, files: readonly string[]): Promise<void> {
    const isOfFile = files.some((changed) => file.sources.includes(changed))
    const next = isOfFile ? await readAgain(file, options) : file
    if (next === undefined) return
    file = next
    watch.add(file.sources)
    logger.info({ files }, 'files changed: the graphs are loaded again')
    hosts.reload(file)
    if (isOfFile) await accept(file)
    const use = ++reloads
    hosts.ready().then(
      () => use === reloads && logger.info({ graphs: servedGraphs(hosts) }, 'graphs are loaded'),
      // The hosts have logged the reason.
      () => undefined,
    )
  }

  const watch = watchFiles({
    changed(files) {
      const use = reload
      if (use === undefined) return
      working = working
        .then(() => act(use, files))
        .catch((error: unknown) => logger.error({ err: error }, 'could not reload after a file change'))
    },
    failed: (folder, error) => logger.warn({ err: error, folder }, 'a folder cannot be watched'),
  })
  watch.add(file.sources)
  return {
    add: (files) => watch.add(files),
    begin(use) {
      reload = use
    },
    close() {
      reload = undefined
      watch.close()
    },
  }
}

/** Names of the graphs that were loaded. */
export function servedGraphs(host: Pick<GraphHost, 'graphs'>): string[] {
  return host.graphs().flatMap(({ graph_id, unavailable }) => (unavailable === null ? [graph_id] : []))
}
