import type { Authenticator } from '../../auth/authenticator.ts'
import type { Principal } from '../../auth/principal.ts'
import { AppError } from '../../base/errors.ts'

/** Lets in who may use the deployment's workspace (D-40): that is where a request without X-Tenant-Id goes. */
export function ofWorkspace(
  authenticator: Pick<Authenticator, 'authenticate'>,
  workspace_id: string,
): Pick<Authenticator, 'authenticate'> {
  const checked = (principal: Principal): Principal => {
    if (principal.workspace_id === workspace_id) return principal
    throw new AppError('forbidden', { message: 'Forbidden: the deployment is in another workspace.' })
  }
  return {
    authenticate({ key, workspace = workspace_id }) {
      const found = authenticator.authenticate({ key, workspace })
      return found instanceof Promise ? found.then(checked) : checked(found)
    },
  }
}
