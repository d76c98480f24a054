import type { BuildCommands, StoredDeployment, Revision, RevisionLease, SealedSecret } from '../model.ts'
import type { RevisionEvent, RevisionState } from '../revision-states.ts'

/** A deployment to create; the store adds the other fields. */
export type NewDeployment = Pick<
  StoredDeployment,
  'id' | 'organization_id' | 'workspace_id' | 'name' | 'type' | 'secrets' | 'commands'
>

/** A revision to create; the store adds the other fields. */
export type NewRevision = Pick<
  Revision,
  | 'source_path'
  | 'config_path'
  | 'commands'
  | 'source_sha256'
  | 'artifact_sha256'
  | 'created_by'
  | 'rolled_back_from'
>

/** Results of a step of a revision. */
export type RevisionFindings = Partial<
  Pick<Revision, 'artifact_sha256' | 'error' | 'graphs' | 'timings' | 'source_sha256'>
>

/** The place of a page in a list. */
export interface ListPart {
  limit: number
  offset: number
}

/** The effects of a change of state. */
export interface Advance {
  revision: Revision
  /** Older waiting revisions that are no longer needed. */
  skipped: Revision[]
}

/** Deployments and revisions. Every method reads or writes in one transaction. */
export interface DeploymentStore {
  /** @throws AppError deployment_name_taken */
  create(deployment: NewDeployment): Promise<StoredDeployment>
  /** Undefined if the workspace has no such deployment, or it is being deleted. */
  get(workspace_id: string, id: string): Promise<StoredDeployment | undefined>
  /** The deployment with this id in any workspace; undefined if there is none or it is being deleted. */
  find(id: string): Promise<StoredDeployment | undefined>
  /** The deployment of this name in any workspace; undefined if there is none. */
  named(name: string): Promise<StoredDeployment | undefined>
  /** Newest first. */
  list(
    workspace_id: string,
    filter: { name?: string | undefined; name_contains?: string | undefined } & ListPart,
  ): Promise<StoredDeployment[]>
  replaceSecrets(id: string, secrets: readonly SealedSecret[]): Promise<void>
  /** Replaces the build commands; existing revisions keep their own commands. */
  replaceCommands(id: string, commands: BuildCommands): Promise<void>
  /** Deletes the deployment and frees its name. Returns false if it did not exist. */
  markDeleted(workspace_id: string, id: string): Promise<boolean>
  /** Deployments whose deletion has not ended. */
  deleting(): Promise<StoredDeployment[]>
  /** Removes the record with revisions, uploads and logs. */
  erase(id: string): Promise<void>
  /** All deployments without an active revision. */
  inactive(): Promise<StoredDeployment[]>
  active(): Promise<{ deployment: StoredDeployment; revision: Revision }[]>

  /** Adds a revision in the state CREATING, with the next number. */
  addRevision(deployment_id: string, revision: NewRevision): Promise<Revision>
  /** Newest first. */
  revisions(
    deployment_id: string,
    filter: { status?: RevisionState | undefined } & ListPart,
  ): Promise<Revision[]>
  revision(deployment_id: string, id: string): Promise<Revision | undefined>
  /** Whether a revision of the deployment has not ended. */
  isBusy(deployment_id: string): Promise<boolean>
  /** The newest revision of each of the `limit` artifacts that were used last. */
  newestOfArtifacts(
    deployment_id: string,
    filter: { status?: RevisionState | undefined; limit: number },
  ): Promise<Revision[]>
  /**
   * Takes a lease of `lease_ms` on the oldest revision that can be processed. No other revision of its deployment may
   * be leased (P-6), and a build needs fewer than `builds` other builds. QUEUED and AWAITING_BUILD become BUILDING,
   * AWAITING_DEPLOY becomes DEPLOYING, CREATING stays. Undefined if there is none.
   */
  claim(limits: { lease_ms: number; builds: number }): Promise<RevisionLease | undefined>
  /** Renews the lease; returns false if it was lost. */
  renew(lease: RevisionLease, lease_ms: number): Promise<boolean>
  /**
   * Changes the state by the table and ends the lease. `accepted` skips older waiting revisions; `ok` in DEPLOYING
   * makes the revision the active one. Returns undefined, and changes nothing, if the lease was lost.
   */
  advance(
    lease: RevisionLease,
    event: Extract<RevisionEvent, 'accepted' | 'refused' | 'ok' | 'error'>,
    findings: RevisionFindings,
  ): Promise<Advance | undefined>
  /** Interrupts a revision; returns undefined if it has already ended. */
  interrupt(deployment_id: string, id: string): Promise<Revision | undefined>
  /** Applies `server_died` to revisions whose lease has run out, or, with `all`, to all that are leased. */
  takeBack(options: { all: boolean }): Promise<Revision[]>
}
