import { AppError } from '../../../../base/errors.ts'
import type { ControlPlane, Deployer } from '../../../../deploy/control-plane.ts'
import type { BuildCommands, Revision, StoredDeployment } from '../../../../deploy/model.ts'
import type { Principal } from '../../../../identity/principal.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { partQuery } from '../../../api/parameters.ts'
import { actorOf } from '../../actor.ts'
import type { PlatformCaller, PlatformContext } from '../../route.ts'
import { ownAddress, pagesOrigin } from '../../../server/browser/own-address.ts'

/** Arguments of the routes of the control plane. */
export type DeploymentContext = Pick<PlatformContext, 'deps' | 'principal' | 'req'>

/** Query parameters that select a page of a list. */
export const PART_QUERY = partQuery(20)

/** The caller of a request, in the form of the control plane. */
export function deployerOf({ organization_id, workspace_id, short_key }: Principal): Deployer {
  return { organization_id, workspace_id, short_key }
}

/** A deployment in the form of the API. */
export function shownDeployment(
  context: DeploymentContext,
  { hosting, runtimes }: Pick<ControlPlane, 'hosting' | 'runtimes'>,
  deployment: StoredDeployment,
): SchemaTypes['deployment'] {
  const base = ownAddress(context.deps, context.req)
  const origin = pagesOrigin(context.deps, context.req)
  const { id, name, managed_by } = deployment
  const isServer = managed_by === 'server'
  const { active, draining = [], graphs = [], refuses_studio = false } = hosting.status(id) ?? {}
  return {
    id,
    tenant_id: deployment.workspace_id,
    name,
    source: 'internal_source',
    source_config: {
      deployment_type: deployment.type,
      custom_url: `${base}/deployments/${encodeURIComponent(name)}`,
      ...deployment.commands,
    },
    status: deployment.active_revision_id !== null ? 'READY' : 'NOT_READY',
    latest_revision_id: deployment.latest_revision_id,
    active_revision_id: deployment.active_revision_id,
    secrets: deployment.secrets.map((secret) => ({ name: secret.name, updated_at: iso(secret.updated_at) })),
    created_at: iso(deployment.created_at),
    updated_at: iso(deployment.updated_at),
    weir: {
      runtime: isServer ? 'process' : runtimes.name,
      isolation: isServer ? 'none' : runtimes.isolation,
      studio_url: `${base}/app/deployments/${encodeURIComponent(name)}/studio`,
      pages_url: origin && `${origin}/deployments/${encodeURIComponent(name)}`,
      managed_by,
      active_revision: active?.number ?? null,
      runs: active?.runs ?? 0,
      hosts: active?.host_pids.length ?? 0,
      memory_bytes: active?.memory_bytes ?? null,
      studio_auth: refuses_studio ? 'token' : 'key',
      graphs: graphs.map(({ graph_id, language, unavailable }) => ({ graph_id, language, unavailable })),
      draining: draining.map(({ number, runs }) => ({ number, runs })),
    },
  }
}

/** A revision in the form of the API; `active` is the id of the revision that serves. */
export function shownRevision(
  revision: Revision,
  { active_revision_id }: Pick<StoredDeployment, 'active_revision_id'>,
): SchemaTypes['deployment-revision'] {
  const { id, status, source_path, config_path, created_at, updated_at, ...facts } = revision
  const { number, source_sha256, artifact_sha256, error, created_by, graphs, rolled_back_from, timings } =
    facts
  return {
    id,
    status,
    source: 'internal_source',
    source_revision_config: { source_tarball_path: source_path, langgraph_config_path: config_path },
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    weir: {
      number,
      is_active: id === active_revision_id,
      source_sha256,
      artifact_sha256,
      error,
      created_by,
      graphs,
      rolled_back_from,
      timings,
    },
  }
}

/** Writes a change of a deployment to the audit (P-15). */
export async function auditDeployment(
  { deps, principal }: PlatformCaller,
  action: 'create' | 'update' | 'rollback' | 'interrupt' | 'delete',
  { id, ...details }: { id: string; name: string } & Record<string, unknown>,
): Promise<void> {
  const { organization_id } = principal
  const change = { organization_id, action: `deployment.${action}`, subject_id: id, details }
  await deps.identity.recordChange(change, actorOf(principal, deps.clock))
}

/** Fields of the audit for a change of a revision, including the names of the secrets with which it starts (P-15). */
export function auditFields(
  { id, name, secrets }: Pick<StoredDeployment, 'id' | 'name' | 'secrets'>,
  revision: Pick<Revision, 'number' | 'source_sha256'> | undefined,
) {
  const { number = null, source_sha256 = null } = revision ?? {}
  return { id, name, revision: number, source_sha256, secrets: secrets.map((secret) => secret.name) }
}

/** @throws AppError source_unsupported for images (P-9) */
export function assertSource(source: string | null | undefined, image_uri?: string | null): void {
  if ((source ?? 'internal_source') !== 'internal_source' || (image_uri ?? null) !== null)
    throw new AppError('source_unsupported')
}

/** The commands that a body sets; an empty text removes a command, like null. */
export function readCommands(
  sent: Readonly<{ [K in keyof BuildCommands]?: string | null }> | null | undefined,
): Partial<BuildCommands> {
  const { install_command, build_command } = sent ?? {}
  return {
    ...(install_command !== undefined && { install_command: install_command?.trim() || null }),
    ...(build_command !== undefined && { build_command: build_command?.trim() || null }),
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
