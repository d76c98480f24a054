import type { Authenticator, Credentials } from '../../../identity/authenticator.ts'
import type { Principal } from '../../../identity/principal.ts'
import { AppError } from '../../../base/errors.ts'

/**
 * An authenticator that accepts only calls for this deployment's workspace (D-40). A request without X-Tenant-Id is for
 * this workspace. The error for a valid key of other workspaces contains the workspace's id, but not its name.
 */
export function ofWorkspace(
  authenticator: Pick<Authenticator, 'authenticate'>,
  workspace_id: string,
): Pick<Authenticator, 'authenticate'> {
  const foreign = (advice: string): AppError => {
    const place = `this deployment belongs to the workspace ${workspace_id}`
    return new AppError('forbidden', { message: `Forbidden: ${place}. ${advice}` })
  }
  const refused = (error: unknown): never => {
    if (!(error instanceof AppError) || error.code !== 'forbidden') throw error
    throw foreign('The key does not serve it: use one that does.')
  }
  const checked = (principal: Principal): Principal => {
    if (principal.workspace_id === workspace_id) return principal
    throw foreign('X-Tenant-Id names another one: leave it out.')
  }
  const find = (credentials: Credentials, fresh: boolean): Principal | Promise<Principal> => {
    try {
      const found = authenticator.authenticate(credentials, 'workspace', fresh)
      return found instanceof Promise ? found.catch(refused) : found
    } catch (error) {
      return refused(error)
    }
  }
  return {
    authenticate({ workspace = workspace_id, ...credentials }, _acts_in, fresh = false) {
      const found = find({ ...credentials, workspace }, fresh)
      return found instanceof Promise ? found.then(checked) : checked(found)
    },
  }
}
