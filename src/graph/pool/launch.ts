import { dirname } from 'node:path'
import { childEntry } from '../../base/child-entry.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import type { GraphLanguage } from '../project/graph-spec.ts'
import { findPythonHeldUp } from '../python/held-up.ts'
import { pythonCommand } from '../python/interpreter.ts'
import {
  type ChildOptions,
  type HostLaunch,
  type HostNotes,
  hostEnvironment,
  nodeCommand,
} from './process.ts'

/** Creates the access of one host to run state. It ends when `revoke` is called. */
export type GrantStorage = () => { storage: JsonObject; revoke(): void }

export interface GraphHostOptions extends ChildOptions {
  file: DeploymentFile
  /**
   * Options with which a host opens run state, passed on unchanged to the host's composition root. If it is a function,
   * it is called for each host and returns a separate access.
   */
  storage: JsonObject | GrantStorage
  /** Called when a host starts or ends. */
  noted?: HostNotes | undefined
  /** Masks values of secrets in messages of hosts. */
  mask?: ((text: string) => string) | undefined
  /** Name of the project to which the deployment's runs are traced. */
  project: string
  /** Milliseconds without a message after which a host is killed (HOST_STALL_SECONDS). */
  stallMs: number
  /** After a cancel, a host that sends no message for this number of milliseconds is killed (CANCEL_GRACE_SECONDS). */
  cancelGraceMs: number
  /** Called with absolute paths of modules outside of packages that a host loaded or failed to find. */
  loaded?: (files: readonly string[]) => void
  /** Path of the socket at which graphs call the API of their deployment. Default: no socket. */
  ownApi?: string
  /** Language of all graphs of the pool. Default javascript. */
  language?: GraphLanguage
  /** Entry file of the host. Default, for TypeScript and JavaScript: src/start/children/graph-host.ts. */
  entry?: string
  /** Default: the Node that runs this process. */
  nodePath?: string
  /** Resident memory in bytes above which a host is killed. Only on Linux, which reports it. Default: no limit. */
  maxBytes?: number
  /** Number of processors that a host with its descendants may use (Linux). Default: no bound. */
  maxProcessors?: number
  /** Number of hosts that are kept ready while there is no work. Default 1. */
  minHosts?: number
  /** Maximum number of hosts, including blocked ones. Default 8. */
  maxHosts?: number
  /** Time without work after which spare hosts end, in milliseconds. Default 60 s. */
  spareIdleMs?: number
  /** Minimum time between attempts to load a graph that failed to load, in milliseconds. Default 30 s. */
  tryAgainMs?: number
}

export function launchOf(options: GraphHostOptions, file: DeploymentFile): HostLaunch {
  const grant = typeof options.storage === 'function' ? options.storage() : undefined
  return {
    ...programOf(options, file),
    cwd: file.folder,
    env: hostEnvironment(options.environment, file.env),
    open: {
      type: 'open',
      graphs: file.graphs,
      store_index: file.store_index,
      store_ttl: file.store_ttl,
      storage: grant?.storage ?? (options.storage as JsonObject),
      tracing_project: options.project,
      own_api: options.ownApi ?? null,
      report_files: options.loaded !== undefined,
    },
    logger: options.logger,
    printed: options.printed,
    noted: options.noted,
    mask: options.mask,
    record: options.record,
    ...(options.confine && { confine: options.confine, reach: socketsOf(options, grant?.storage) }),
    ...(grant && { ended: () => grant.revoke() }),
  }
}

function programOf(options: GraphHostOptions, { folder }: DeploymentFile) {
  if (options.language === 'python') {
    return { command: pythonCommand('graphs', folder, options.environment), findHeldUp: findPythonHeldUp }
  }
  return { command: nodeCommand(options.entry ?? childEntry('graph-host'), options.nodePath) }
}

/**
 * The paths outside of its project that a confined host must be able to reach: the socket of the storage broker, and
 * the folder of the socket of its own API. The folder is returned instead of the second socket, because that socket is
 * opened after the host.
 */
function socketsOf({ ownApi }: GraphHostOptions, storage: JsonObject | undefined): string[] {
  const { socket } = Object(storage?.['broker']) as { socket?: string }
  return [...(socket === undefined ? [] : [socket]), ...(ownApi === undefined ? [] : [dirname(ownApi)])]
}
