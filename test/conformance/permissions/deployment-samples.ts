import { newUuid } from '../../../src/base/ids.ts'
import { at, fixed, type Sample } from './sample.ts'

const ofDeployment = (path: string, body?: unknown): Sample => ({
  reach: 'request',
  call: ({ objects }) => at(`/v2/deployments/${objects.deployment_id}${path}`, body),
})
const ofRevision = (prefix: string, path: string, body?: unknown): Sample => ({
  reach: 'request',
  call: ({ objects: { deployment_id, revision_id } }) =>
    at(`${prefix}/${deployment_id}/revisions/${revision_id}${path}`, body),
})

/** Calls of the routes of deployments. */
export const DEPLOYMENT_SAMPLES: Readonly<Record<string, Sample>> = {
  'GET /v2/deployments': fixed('/v2/deployments'),
  'POST /v2/deployments': {
    call: () => at('/v2/deployments', { name: newUuid().slice(9), source: 'internal_source' }),
  },
  'GET /v2/deployments/{id}': ofDeployment(''),
  'PATCH /v2/deployments/{id}': ofDeployment('', {}),
  'DELETE /v2/deployments/{id}': ofDeployment(''),
  'POST /v2/deployments/{id}/upload-url': ofDeployment('/upload-url'),
  'POST /v2/deployments/{id}/push-token': { ...ofDeployment('/push-token'), status: () => [400] },
  // Every caller gets the same answer: no upload has this address.
  'PUT /v2/uploads/{token}': { ...fixed(`/v2/uploads/${newUuid()}`), status: () => [403] },
  'GET /v2/deployments/{id}/revisions': ofDeployment('/revisions'),
  'GET /v2/deployments/{id}/revisions/{revision_id}': ofRevision('/v2/deployments', ''),
  // This revision has ended without a build.
  'POST /v2/deployments/{id}/revisions/{revision_id}/redeploy': {
    ...ofRevision('/v2/deployments', '/redeploy'),
    status: () => [409],
  },
  'POST /v2/deployments/{id}/revisions/{revision_id}/interrupt': {
    ...ofRevision('/v2/deployments', '/interrupt'),
    status: () => [202, 409],
  },
  'POST /v1/projects/{id}/deploy_logs': {
    reach: 'request',
    call: ({ objects }) => at(`/v1/projects/${objects.deployment_id}/deploy_logs`, {}),
  },
  'POST /v1/projects/{id}/revisions/{revision_id}/deploy_logs': ofRevision(
    '/v1/projects',
    '/deploy_logs',
    {},
  ),
  'POST /v1/projects/{id}/revisions/{revision_id}/build_logs': ofRevision('/v1/projects', '/build_logs', {}),
  'GET /deployments/{id}/logs': {
    reach: 'request',
    call: ({ objects }) => at(`/deployments/${objects.deployment_id}/logs`),
  },
  'GET /o/{tenant}/host/deployments/{id}': fixed(`/o/${newUuid()}/host/deployments/${newUuid()}`),
}
