import type { DeploymentType } from './deployment-type.ts'
import type { RevisionState } from './revision-states.ts'

/** The encrypted value of a secret. */
export interface SealedSecret {
  name: string
  sealed: string
  /** Epoch milliseconds. */
  updated_at: number
}

/** Shell commands of a build, run in the folder of langgraph.json. */
export interface BuildCommands {
  /** Shell command instead of the package manager; null for the package manager of the lock file. */
  install_command: string | null
  /** Shell command that is run after the dependencies were installed. */
  build_command: string | null
}

export const NO_COMMANDS: BuildCommands = { install_command: null, build_command: null }

/** A deployment. Times are epoch milliseconds. */
export interface StoredDeployment {
  id: string
  /** `server` for the deployment of GRAPHS, which no call changes (P-2). */
  managed_by: 'api' | 'server'
  organization_id: string
  workspace_id: string
  name: string
  type: DeploymentType
  secrets: SealedSecret[]
  /** Commands with which later revisions are built. */
  commands: BuildCommands
  latest_revision_id: string | null
  active_revision_id: string | null
  created_at: number
  updated_at: number
}

/** The reason for which a revision failed. */
export interface RevisionError {
  code: string
  message: string
  file?: string
  line?: number
}

/** A revision, as stored. Times are epoch milliseconds. */
export interface Revision {
  id: string
  deployment_id: string
  /** Number of the revision within the deployment: 1, 2, … */
  number: number
  status: RevisionState
  /** The object of the upload; null for a revision that uses the artifact of another. */
  source_path: string | null
  config_path: string
  commands: BuildCommands
  source_sha256: string | null
  artifact_sha256: string | null
  error: RevisionError | null
  /** Short form of the key that created the revision. */
  created_by: string
  graphs: string[] | null
  /** Number of the older revision whose artifact this one uses. */
  rolled_back_from: number | null
  /** Milliseconds by step. */
  timings: Readonly<Record<string, number>>
  /** Number of builds that have begun. */
  builds: number
  created_at: number
  updated_at: number
}

/** The right to work on one revision (P-5): writes without its token have no effect. */
export interface RevisionLease {
  revision: Revision
  token: string
}
