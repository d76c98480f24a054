import { AppError } from '../../../../base/errors.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import type { SecretChange, WorkspaceSecret } from '../../../../playground/secrets.ts'
import { requiredTextParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { actorOf } from '../../actor.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'

const TAG = 'Playground'
const PATH = '/workspaces/current/secrets'
const KEY = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

function toAnswer({ created_at, updated_at, key, hosts }: WorkspaceSecret): SchemaTypes['workspace-secret'] {
  const [created, updated] = [created_at, updated_at].map((time) => new Date(time).toISOString()) as [
    string,
    string,
  ]
  return { key, hosts: [...hosts], created_at: created, updated_at: updated }
}

/** @throws AppError not_found for a text that cannot be a secret's name */
function assertKey(key: string): void {
  if (!KEY.test(key)) throw new AppError('not_found')
}

const ACTIONS = { created: 'secret.create', updated: 'secret.update', deleted: 'secret.delete' } as const

/**
 * Stores all changes, or none if one of them fails. The audit gets an entry for each change, with the name and the
 * hosts of the secret and without its value. Returns true if anything changed.
 */
async function write(
  { deps, principal }: PlatformCaller,
  changes: readonly SecretChange[],
): Promise<boolean> {
  const { organization_id, workspace_id } = principal
  const written = await deps.secrets.write(workspace_id, changes)
  const actor = actorOf(principal, deps.clock)
  for (const { key, outcome, hosts } of written) {
    if (outcome === 'none') continue
    const details = { workspace_id, key, ...(outcome !== 'deleted' && { hosts }) }
    const action = ACTIONS[outcome]
    await deps.identity.recordChange({ organization_id, action, subject_id: workspace_id, details }, actor)
  }
  return written.some(({ outcome }) => outcome !== 'none')
}

async function list({ deps, principal }: PlatformCaller) {
  return (await deps.secrets.list(principal.workspace_id)).map(toAnswer)
}

/** Secrets of the workspace, under LangSmith's path. */
export function secretRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: PATH,
      needs: 'secrets:manage',
      summary: 'The secrets of the workspace, without their values',
      tag: TAG,
      reply: 'workspace-secret-list',
      handle: async (context) => ({ body: await list(context) }),
    }),
    route({
      method: 'POST',
      path: PATH,
      needs: 'secrets:manage',
      summary: 'Set or delete secrets',
      description:
        'Each has a name and a value; the value null deletes it. Either all are written or none. The answer lists the secrets of the workspace.',
      tag: TAG,
      body: 'workspace-secrets-write',
      reply: 'workspace-secret-list',
      errors: ['quota_reached'],
      async handle(context) {
        const { body } = context
        const keys = new Set(body.map(({ key }) => key))
        if (keys.size < body.length)
          throw bodyFault([{ code: 'value_error', path: '', message: 'names a secret twice' }])
        await write(
          context,
          body.map(({ key, value = null, hosts }) => ({ key, value, hosts })),
        )
        return { body: await list(context) }
      },
    }),
    ...oneSecretRoutes(),
  ]
}

function oneSecretRoutes(): PlatformRoute[] {
  const params = { key: requiredTextParameter('Name of the secret.') }
  return [
    route({
      method: 'PUT',
      path: `${PATH}/{key}`,
      needs: 'secrets:manage',
      summary: 'Set a secret',
      tag: TAG,
      params,
      body: 'workspace-secret-write',
      reply: 'bytes',
      status: 204,
      errors: ['not_found', 'quota_reached'],
      async handle(context) {
        assertKey(context.params.key)
        const { value, hosts } = context.body
        await write(context, [{ key: context.params.key, value, hosts }])
        return { body: '' }
      },
    }),
    route({
      method: 'DELETE',
      path: `${PATH}/{key}`,
      needs: 'secrets:manage',
      summary: 'Delete a secret',
      tag: TAG,
      params,
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle(context) {
        const isDeleted = await write(context, [{ key: context.params.key, value: null }])
        if (!isDeleted) throw new AppError('not_found')
        return { body: '' }
      },
    }),
  ]
}
