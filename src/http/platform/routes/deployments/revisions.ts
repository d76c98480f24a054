import { REVISION_STATES } from '../../../../deploy/revision-states.ts'
import { optionalChoiceParameter, uuidParameter } from '../../../api/parameters.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { auditDeployment, auditFields, deployerOf, PART_QUERY, shownRevision } from './answers.ts'

const TAG = 'Deployments'
const ID = { id: uuidParameter('The deployment.') }
const REVISION = { ...ID, revision_id: uuidParameter('The revision.') }

function readRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/v2/deployments/{id}/revisions',
      needs: 'deployments:read',
      summary: 'The revisions of a deployment, newest first',
      tag: TAG,
      params: ID,
      query: { status: optionalChoiceParameter('Only those in this state.', REVISION_STATES), ...PART_QUERY },
      reply: 'deployment-revision-page',
      errors: ['not_found'],
      async handle({ deps, principal: { workspace_id }, params: { id }, query }) {
        const control = await deps.controlPlane()
        const deployment = await control.get(workspace_id, id)
        const found = await control.revisions(workspace_id, id, query)
        const resources = found.map((revision) => shownRevision(revision, deployment))
        return { body: { resources, offset: query.offset + resources.length } }
      },
    }),
    route({
      method: 'GET',
      path: '/v2/deployments/{id}/revisions/{revision_id}',
      needs: 'deployments:read',
      summary: 'A revision of a deployment',
      tag: TAG,
      params: REVISION,
      reply: 'deployment-revision',
      errors: ['not_found'],
      async handle({ deps, principal: { workspace_id }, params: { id, revision_id } }) {
        const control = await deps.controlPlane()
        const revision = await control.revision(workspace_id, id, revision_id)
        return { body: shownRevision(revision, await control.get(workspace_id, id)) }
      },
    }),
  ]
}

/** Revisions of deployments, under the paths of LangSmith's. */
export function revisionRoutes(): PlatformRoute[] {
  return [
    ...readRoutes(),
    route({
      method: 'POST',
      path: '/v2/deployments/{id}/revisions/{revision_id}/redeploy',
      needs: 'deployments:manage',
      summary: 'Roll back to an earlier revision',
      description:
        'Makes a new revision with the build of this one and the secrets of today, so that a secret that was withdrawn does not come back.',
      tag: TAG,
      params: REVISION,
      reply: 'deployment-revision',
      status: 201,
      errors: [
        'not_found',
        'conflict',
        'build_not_kept',
        'deployment_managed_by_server',
        'container_runtime_unavailable',
      ],
      async handle(context) {
        const { deps, principal, params } = context
        const control = await deps.controlPlane()
        const deployer = deployerOf(principal)
        const { revision, of } = await control.redeploy(deployer, params.id, params.revision_id)
        const deployment = await control.get(principal.workspace_id, params.id)
        await auditDeployment(context, 'rollback', { ...auditFields(deployment, revision), of: of.number })
        return { status: 201, body: shownRevision(revision, deployment) }
      },
    }),
    route({
      method: 'POST',
      path: '/v2/deployments/{id}/revisions/{revision_id}/interrupt',
      needs: 'deployments:manage',
      summary: 'End the build or the start of a revision',
      description: 'The active revision continues to serve.',
      tag: TAG,
      params: REVISION,
      reply: 'deployment-revision',
      status: 202,
      errors: ['not_found', 'conflict', 'deployment_managed_by_server'],
      async handle(context) {
        const { deps, principal, params } = context
        const control = await deps.controlPlane()
        const { workspace_id } = principal
        const revision = await control.interrupt(workspace_id, params.id, params.revision_id)
        const deployment = await control.get(workspace_id, params.id)
        await auditDeployment(context, 'interrupt', auditFields(deployment, revision))
        return { status: 202, body: shownRevision(revision, deployment) }
      },
    }),
  ]
}
