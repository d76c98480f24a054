/**
 * The interface through which the control plane uses the part of the server that runs deployments. The control plane
 * makes artifacts and selects the active revision. Hosting opens this revision, switches to it, and ends the previous
 * revision.
 */

import type { AppError } from '../base/errors.ts'

/** A deployment of the control plane, as hosting needs it. */
export interface HostedDeployment {
  /** UUID; also the `deployment_id` of its threads, runs and other rows. */
  id: string
  /** Unique on the server; the API is at `/deployments/{name}`, and runs are traced to the project of this name. */
  name: string
  workspace_id: string
  type: 'dev' | 'prod'
  limits: HostingLimits
}

/** Resources of a deployment (P-3). */
export interface HostingLimits {
  /** Maximum number of host processes at a time, at least 1. */
  hosts: number
  /** Number of hosts that are kept ready without work, at least 1. */
  warm: number
  /** Memory of one host. A JavaScript heap gets 75 % of it (P-24). */
  memory_bytes: number
  /** Processors that one host may use, with the programs that it has started. */
  cpus: number
}

/** A built revision. Hosting only reads its files, which must not change while the revision is active or drains. */
export interface HostedRevision {
  /** UUID; runs show it as `weir.revision_id`. */
  id: string
  /** Number of the revision within the deployment: 1, 2, … */
  number: number
  /** Absolute path of the unpacked artifact, with its dependencies installed. */
  dir: string
  /** Path of langgraph.json relative to `dir`. */
  config_path: string
  /**
   * The variables of the revision's processes, in addition to those that every process needs (P-18): `env` of
   * langgraph.json and the secrets, without reserved names. Hosting adds no variables of the server.
   */
  env: Readonly<Record<string, string>>
}

export interface ActivationOptions {
  /** Receives one line for each step and each warning, for the log of kind `deploy`. */
  log(line: string): void
  /** Receives each line that processes of the revision print, and the process id, for the log of kind `server`. */
  printed?: ((from: 'stdout' | 'stderr', line: string, pid: number | undefined) => void) | undefined
  /** Receives starts and ends of processes of the revision, for the log of kind `deploy` (P-39). */
  noted?: ((level: 'INFO' | 'WARNING', message: string) => void) | undefined
  /** Hides values of secrets in errors and in messages of the revision's processes (P-16). */
  mask?: ((text: string) => string) | undefined
  /**
   * Called when all checks have passed, before the switch. If it resolves with false, the revision is no longer needed:
   * its hosts are ended, and the activation rejects with an `AbortError`.
   */
  commit?: ((report: Omit<ActivationReport, 'draining_runs'>) => Promise<boolean>) | undefined
  /** An abort ends the activation, which then rejects with an `AbortError`. Has no effect after `commit`. */
  signal: AbortSignal
}

export interface ActivationReport {
  graphs: string[]
  /** Milliseconds until hosts were open, and until all checks had passed. */
  started_ms: number
  checked_ms: number
  /** Number of runs that end on the previously active revision. */
  draining_runs: number
}

/** The numbers of runs and rows that a removal has cancelled and erased. */
export interface RemovalReport {
  cancelled_runs: number
  /** Number of rows by table, including threads and crons. */
  erased: Readonly<Record<string, number>>
}

/** A revision that serves, or that still executes runs that it had begun. */
export interface HostingRevision {
  revision_id: string
  number: number
  /** Number of runs that the revision executes. */
  runs: number
  host_pids: number[]
  /** Memory of its graph hosts; undefined if it cannot be read. */
  memory_bytes: number | undefined
}

/** The current state of a deployment. */
export interface HostingStatus {
  /** The active revision; undefined before the first activation. */
  active: HostingRevision | undefined
  /** Oldest first. */
  draining: HostingRevision[]
  /** Whether the auth file of the active revision refuses Studio's keys, and authenticates its requests itself. */
  refuses_studio: boolean
  /** The graphs of the active revision; `unavailable` is the reason why a graph cannot be loaded. */
  graphs: { graph_id: string; language: 'javascript' | 'python'; unavailable: string | null }[]
}

/** A deployment that is currently not served. */
export interface Unserved {
  /** The reason, for callers who may read the deployments of the workspace. */
  refusal: AppError
  workspace_id: string
}

/** Runs the deployments of the control plane beside that of `GRAPHS`. */
export interface DeploymentHosting {
  /**
   * Registers the deployment, whose path answers 503 `deployment_not_ready` with `reason` until a revision is active
   * (P-34). For a registered deployment, replaces the reason; its active revision continues to serve.
   */
  announce(deployment: HostedDeployment, reason: string): void
  /**
   * Opens hosts of the revision, checks it (P-32) and switches to it. Resolves after the switch. The replaced revision
   * continues its runs for at most `DEPLOY_DRAIN_SECONDS`. Also used when the server restarts (P-36) and there is no
   * revision to replace. Activations of one deployment run one after the other.
   * @throws AppError `deployment_failed`, whose `details` are `{graph?, file?, line?}`; the active revision is then
   * untouched
   */
  activate(
    deployment: HostedDeployment,
    revision: HostedRevision,
    options: ActivationOptions,
  ): Promise<ActivationReport>
  /**
   * Answers 404 at once, cancels the runs and waits up to 10 s for them, ends the hosts, and erases the deployment's
   * rows (P-4). The caller keeps its record until this resolves, and calls this again after a crash to erase the rest.
   * The deployment may never have been activated. The caller deletes artifacts and secrets.
   */
  remove(deployment: HostedDeployment): Promise<RemovalReport>
  /** Ends the hosts of a deployment that another server has removed, whose runs that server cancels. */
  release(deployment_id: string): Promise<void>
  /** The deployments that were announced or activated and have not been removed. */
  known(): readonly HostedDeployment[]
  /** The state of a deployment; undefined if it is not known. */
  status(deployment_id: string): HostingStatus | undefined
}
