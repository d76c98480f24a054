import type { Call } from '../../runs/runs.ts'
import type { DeploymentContext } from './deployment-route.ts'

/** The request as the use cases want it: who calls, for which deployment, and what graphs may read of its headers. */
export function callOf({ deps, principal, req }: DeploymentContext): Call {
  const { user_id, api_key_id } = principal
  return {
    tenant: deps.tenant,
    caller: { user_id, api_key_id, ...(deps.user && { user: deps.user }) },
    headers: deps.headersFor(req.headers),
  }
}
