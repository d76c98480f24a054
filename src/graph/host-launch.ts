import { fileURLToPath } from 'node:url'
import type { Logger } from '../base/log.ts'
import type { JsonObject } from '../schema/json.ts'
import type { DeploymentFile } from './deployment-file.ts'
import { type HostLaunch, hostEnvironment } from './host-process.ts'

/** How a deployment's graphs are hosted. */
export interface GraphHostOptions {
  file: DeploymentFile
  /** Handed to the host's composition root as it is: how it opens run state. */
  storage: JsonObject
  /** Where own traces are filed: the deployment's name. */
  project: string
  /** The server's environment, of which hosts get the least that a process needs. */
  environment: Readonly<Record<string, string | undefined>>
  /** Silence after which a host is killed (HOST_STALL_SECONDS). */
  stallMs: number
  /** Silence after a cancel after which a host is killed (CANCEL_GRACE_SECONDS). */
  cancelGraceMs: number
  logger: Logger
  record: HostLaunch['record']
  /** Called with the modules outside of packages that a host has loaded, or looked for: absolute paths. */
  loaded?: (files: readonly string[]) => void
  /** Default: the composition root beside this room. */
  entry?: string
  /** Default: the Node that runs this. */
  nodePath?: string
  /** Hosts at most, blocked ones included. Default 8. */
  maxHosts?: number
  /** How long hosts beyond the first stay without work. Default 60 s. */
  spareIdleMs?: number
  /** How often, at most, a graph that could not be loaded and is asked for is tried again. Default 30 s. */
  tryAgainMs?: number
}

/** How a host is started for the graphs of `file`. */
export function launchOf(options: GraphHostOptions, file: DeploymentFile): HostLaunch {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return {
    nodePath: options.nodePath ?? process.execPath,
    entry: options.entry ?? fileURLToPath(new URL(`../host.${extension}`, import.meta.url)),
    cwd: file.folder,
    env: hostEnvironment(options.environment, file.env),
    open: {
      type: 'open',
      graphs: file.graphs,
      store_index: file.store_index,
      store_ttl: file.store_ttl,
      storage: options.storage,
      tracing_project: options.project,
      tell_files: options.loaded !== undefined,
    },
    logger: options.logger,
    record: options.record,
  }
}
