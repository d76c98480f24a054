import { newUuid } from '../../../src/base/ids.ts'
import type { Sample } from './sample.ts'

const ONE = { reach: 'request', ids: ['deployment_id'] } as const
const REVISION = { reach: 'request', ids: ['deployment_id', 'revision_id'] } as const

/** Calls of the routes of deployments. */
export const DEPLOYMENT_SAMPLES: Readonly<Record<string, Sample>> = {
  'GET /v2/deployments': {},
  'POST /v2/deployments': { body: () => ({ name: newUuid().slice(9), source: 'internal_source' }) },
  'GET /v2/deployments/{id}': ONE,
  'PATCH /v2/deployments/{id}': { ...ONE, body: {} },
  'DELETE /v2/deployments/{id}': ONE,
  'POST /v2/deployments/{id}/upload-url': ONE,
  'POST /v2/deployments/{id}/push-token': { ...ONE, status: [400] },
  // Every caller gets the same answer: no upload has this address.
  'PUT /v2/uploads/{token}': { path: { token: newUuid() }, status: [403] },
  'GET /v2/deployments/{id}/revisions': ONE,
  'GET /v2/deployments/{id}/revisions/{revision_id}': REVISION,
  // This revision has ended without a build.
  'POST /v2/deployments/{id}/revisions/{revision_id}/redeploy': { ...REVISION, status: [409] },
  'POST /v2/deployments/{id}/revisions/{revision_id}/interrupt': { ...REVISION, status: [202, 409] },
  'POST /v1/projects/{id}/deploy_logs': { ...ONE, body: {} },
  'POST /v1/projects/{id}/revisions/{revision_id}/deploy_logs': { ...REVISION, body: {} },
  'POST /v1/projects/{id}/revisions/{revision_id}/build_logs': { ...REVISION, body: {} },
  'GET /deployments/{id}/logs': ONE,
  'GET /o/{tenant}/host/deployments/{id}': { path: { tenant: newUuid(), id: newUuid() } },
}
