import type { Call } from '../../runs/runs.ts'
import type { DeploymentContext } from './route.ts'

/** Converts the request to a `Call`: the caller, the deployment, and the headers that graphs may read. */
export function callOf({ deps, principal, req }: DeploymentContext): Call {
  const { user_id, api_key_id } = principal
  return {
    tenant: deps.tenant,
    caller: { user_id, api_key_id, ...(deps.user && { user: deps.user }) },
    headers: deps.headersFor(req.headers),
  }
}
