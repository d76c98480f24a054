import type { Call } from '../../runs/runs.ts'
import type { DeploymentContext } from './deployment-route.ts'

/** The request as the use cases want it: who calls, for which deployment, and what graphs may read of its headers. */
export function callOf({ deps, principal, req }: DeploymentContext): Call {
  return {
    tenant: deps.tenant,
    caller: { user_id: principal.user_id, api_key_id: principal.api_key_id },
    headers: deps.headersFor(req.headers),
  }
}
