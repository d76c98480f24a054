import { AppError } from '../../../../base/errors.ts'
import { readDeploymentType } from '../../../../deploy/deployment-type.ts'
import { requiredTextParameter, textParameter, uuidParameter } from '../../../api/parameters.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import {
  assertSource,
  auditDeployment,
  auditFields,
  deployerOf,
  PART_QUERY,
  readCommands,
  shownDeployment,
} from './answers.ts'

const TAG = 'Deployments'
const ID = { id: uuidParameter('The deployment.') }
const DEFAULT_CONFIG = 'langgraph.json'

function listRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/v2/deployments',
    needs: 'deployments:read',
    summary: 'The deployments of a workspace',
    description: 'Newest first; that of GRAPHS comes last.',
    tag: TAG,
    query: {
      name: textParameter('Only the one with this name.'),
      name_contains: textParameter('Only those whose name contains this.'),
      agent_id: textParameter('Refused: this server has no agents.'),
      ...PART_QUERY,
    },
    reply: 'deployment-page',
    errors: ['agents_unsupported'],
    async handle(context) {
      const { deps, principal, query } = context
      const { agent_id, ...filter } = query
      if (agent_id !== undefined && agent_id !== '') throw new AppError('agents_unsupported')
      const control = await deps.controlPlane()
      const found = await control.list(principal.workspace_id, filter)
      const resources = found.map((deployment) => shownDeployment(context, control, deployment))
      return { body: { resources, offset: query.offset + resources.length } }
    },
  })
}

function createRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/v2/deployments',
    needs: 'deployments:manage',
    summary: 'Create a deployment',
    description:
      'It has no revision yet: ask for an upload address, upload the project as a gzipped tar file, and update the deployment with it. `langgraph deploy` and `weir deploy` do so.',
    tag: TAG,
    body: 'deployment-create',
    reply: 'deployment',
    status: 201,
    errors: [
      ...(['plan_required', 'container_runtime_unavailable', 'deployment_name_taken'] as const),
      ...(['source_unsupported', 'agents_unsupported'] as const),
    ],
    async handle(context) {
      const { deps, principal, body } = context
      if (body.agent !== undefined && body.agent !== null) throw new AppError('agents_unsupported')
      assertSource(body.source)
      const { name = '' } = body
      const type = readDeploymentType(body.source_config?.deployment_type) ?? 'dev'
      const control = await deps.controlPlane()
      const secrets = body.secrets ?? undefined
      const commands = readCommands(body.source_config)
      const made = await control.create(deployerOf(principal), { name, type, secrets, commands })
      const names = made.secrets.map((secret) => secret.name)
      await auditDeployment(context, 'create', { id: made.id, name, type, secrets: names })
      return { status: 201, body: shownDeployment(context, control, made) }
    },
  })
}

function updateRoute(): PlatformRoute {
  return route({
    method: 'PATCH',
    path: '/v2/deployments/{id}',
    needs: 'deployments:manage',
    summary: 'Deploy a new revision',
    description:
      'The revision exists when the call is answered; it is built and started later, and replaces the active one only if it answers. Without `source_tarball_path` it has the source of the active revision, so that changed secrets take effect.',
    tag: TAG,
    params: ID,
    body: 'deployment-update',
    reply: 'deployment',
    errors: [
      ...(['not_found', 'deployment_managed_by_server', 'deployment_type_fixed'] as const),
      ...(['container_runtime_unavailable', 'source_unsupported'] as const),
    ],
    async handle(context) {
      const { deps, principal, params, body } = context
      const { source_revision_config: config, source_config } = body
      assertSource(body.revision_source, config?.image_uri)
      const control = await deps.controlPlane()
      const { deployment, revision } = await control.update(deployerOf(principal), params.id, {
        type: readDeploymentType(source_config?.deployment_type),
        source_path: config?.source_tarball_path ?? undefined,
        config_path: config?.langgraph_config_path ?? DEFAULT_CONFIG,
        commands: readCommands(source_config),
        secrets: body.secrets ?? undefined,
      })
      await auditDeployment(context, 'update', auditFields(deployment, revision))
      return { body: shownDeployment(context, control, deployment) }
    },
  })
}

function uploadRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v2/deployments/{id}/upload-url',
      needs: 'deployments:manage',
      summary: 'Get an address to upload a source to',
      description: 'It is valid for 15 minutes and for one upload.',
      tag: TAG,
      params: ID,
      reply: 'deployment-upload',
      errors: ['not_found', 'deployment_managed_by_server', 'container_runtime_unavailable'],
      async handle({ deps, principal, params, req }) {
        const control = await deps.controlPlane()
        const { object_path, token } = await control.allowUpload(principal.workspace_id, params.id)
        const upload_url = `${ownAddress(deps, req)}/api-host/v2/uploads/${token}`
        return { body: { upload_url, object_path, upload_headers: {} } }
      },
    }),
    route({
      method: 'PUT',
      path: '/v2/uploads/{token}',
      needs: 'open',
      summary: 'Upload a source',
      description:
        'The body is a gzipped tar file of at most DEPLOY_MAX_SOURCE_BYTES. The token in the path stands in for a key.',
      tag: TAG,
      params: { token: requiredTextParameter('The end of `upload_url`.') },
      reply: 'deployment-uploaded',
      errors: ['forbidden', 'body_too_large', 'disk_full', 'disk_unwritable'],
      async handle({ deps, params, req }) {
        const control = await deps.controlPlane()
        // Keeps the connection open when the body is not read to its end, so that the refusal can be sent.
        const body = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
        return { body: await control.receiveUpload(params.token, body) }
      },
    }),
    route({
      method: 'POST',
      path: '/v2/deployments/{id}/push-token',
      needs: 'deployments:manage',
      summary: 'Refused: this server takes source, not images',
      tag: TAG,
      params: ID,
      reply: 'bytes',
      errors: ['not_found', 'source_unsupported'],
      async handle({ deps, principal, params }) {
        await (await deps.controlPlane()).get(principal.workspace_id, params.id)
        throw new AppError('source_unsupported')
      },
    }),
  ]
}

/** Deployments of the control plane, under the paths of LangSmith's. */
export function deploymentRoutes(): PlatformRoute[] {
  return [
    listRoute(),
    createRoute(),
    route({
      method: 'GET',
      path: '/v2/deployments/{id}',
      needs: 'deployments:read',
      summary: 'A deployment',
      tag: TAG,
      params: ID,
      reply: 'deployment',
      errors: ['not_found'],
      async handle(context) {
        const control = await context.deps.controlPlane()
        const found = await control.get(context.principal.workspace_id, context.params.id)
        return { body: shownDeployment(context, control, found) }
      },
    }),
    updateRoute(),
    route({
      method: 'DELETE',
      path: '/v2/deployments/{id}',
      needs: 'deployments:manage',
      summary: 'Delete a deployment',
      description:
        'It answers 404 from now on, its runs are cancelled, and its threads, store, crons, assistants, secrets and sources are erased. Traces and their project stay.',
      tag: TAG,
      params: ID,
      reply: 'bytes',
      status: 204,
      errors: ['not_found', 'deployment_managed_by_server'],
      async handle(context) {
        const {
          deps,
          principal: { workspace_id },
          params: { id },
        } = context
        const control = await deps.controlPlane()
        const { active_revision_id: active } = await control.get(workspace_id, id)
        const revision = active === null ? undefined : await control.revision(workspace_id, id, active)
        const removed = await control.remove(workspace_id, id)
        await auditDeployment(context, 'delete', auditFields(removed, revision))
        return { body: '' }
      },
    }),
    ...uploadRoutes(),
  ]
}
