import type { Authenticator } from '../../identity/authenticator.ts'
import { type Permission, PERMISSIONS } from '../../identity/permissions.ts'
import type { Principal } from '../../identity/principal.ts'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { deploymentFor } from '../../runs/access/deployment-for.ts'
import type { AccessRules } from '../../runs/access/rulings.ts'
import type { AccessUser } from '../../runs/model.ts'
import { callerOf, sentKeyOf, sessionOf } from '../server/credentials.ts'
import type { Exchange } from '../server/exchange.ts'
import type { DeploymentDeps } from './deps.ts'

/** The authentication of requests by a deployment's own auth file. */
export interface UserAuthPort extends AccessRules {
  /** Whether users of LangGraph Studio may authenticate with a key of Weir. */
  readonly studio: boolean
  /**
   * Returns the user; undefined for a request without a valid user. @throws AppError the handler's own error;
   * auth_unavailable
   */
  authenticate(request: {
    url: string
    method: string
    headers: [name: string, value: string][]
  }): Promise<AccessUser | undefined>
}

/** Identifies the caller, sets the principal of the exchange, and returns the dependencies of the request. */
export type Identify = (exchange: Exchange) => Promise<DeploymentDeps>

/**
 * The permissions of users, which are those of the deployment API. The handlers of the auth file restrict them further.
 */
const USER_PERMISSIONS: ReadonlySet<Permission> = new Set(
  PERMISSIONS.filter((permission) => /^(threads|assistants|store|crons):/.test(permission)),
)

/** The permissions of a key, limited to those of users. */
function permissionsOf({ permissions }: Principal): Principal['permissions'] {
  return new Set([...permissions].filter((permission) => USER_PERMISSIONS.has(permission)))
}

/** The user of requests from Studio, as on LangGraph's server; handlers recognise it by `isStudioUser`. */
const STUDIO_USER: AccessUser = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  is_authenticated: true,
  permissions: [],
}

/**
 * Identifies callers by the deployment's own auth file. A caller that the file accepts has the rights of its user, even
 * if the request has a key. Otherwise a proxy that adds its own key would make its users admins. Users of Studio need a
 * key and have at most its permissions. A caller that the file rejects may authenticate with a key of Weir (`keys`,
 * undefined with AUTH=off). The file's handlers do not apply to such a caller.
 */
export function createIdentify(
  deps: DeploymentDeps,
  userAuth: UserAuthPort,
  keys: Pick<Authenticator, 'authenticate'> | undefined,
): Identify {
  const keyHolder = async (exchange: Exchange): Promise<Principal | undefined> => {
    const isKnown = sentKeyOf(exchange) !== undefined || sessionOf(exchange) !== undefined
    if (keys === undefined || !isKnown) return undefined
    return await callerOf(exchange, { authenticator: keys, gates: undefined })
  }
  const asUser = (exchange: Exchange, user: AccessUser, permissions = USER_PERMISSIONS): DeploymentDeps => {
    exchange.principal = userPrincipal(deps.tenant.workspace_id, `user ${user.identity}`, permissions)
    return { ...deps, ...deploymentFor(deps, userAuth, user), user }
  }
  return async (exchange) => {
    if (userAuth.studio && exchange.req.headers['x-auth-scheme'] === 'langsmith') {
      const holder = await keyHolder(exchange)
      if (holder === undefined) throw new AppError('unauthorized')
      return asUser(exchange, STUDIO_USER, permissionsOf(holder))
    }
    try {
      const user = await userAuth.authenticate(requestOf(exchange))
      if (user !== undefined) return asUser(exchange, user)
      throw new AppError('unauthorized')
    } catch (refused) {
      if (!(refused instanceof AppError) || refused.code !== 'unauthorized') throw refused
      const holder = await keyHolder(exchange).catch(unlessUnknown)
      if (holder === undefined) throw refused
      exchange.principal = holder
      return deps
    }
  }
}

function unlessUnknown(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'unauthorized') return undefined
  throw error
}

/** The principal of requests from the deployment's own code. */
export function deploymentPrincipal(workspace_id: string): Principal {
  return userPrincipal(workspace_id, 'deployment', USER_PERMISSIONS)
}

function userPrincipal(
  workspace_id: string,
  holder: string,
  permissions: Principal['permissions'],
): Principal {
  return {
    organization_id: NIL_UUID,
    workspace_id,
    workspace_chosen: true,
    user_id: null,
    api_key_id: NIL_UUID,
    short_key: '',
    holder,
    workspace_ids: [workspace_id],
    all_workspaces: false,
    permissions,
    role: 'user',
    read_only: false,
    expires_at: null,
  }
}

/** The request for the auth handler, with the path of the deployment API. */
function requestOf({ req, path, search }: Exchange): Parameters<UserAuthPort['authenticate']>[0] {
  const headers: [string, string][] = []
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    headers.push([req.rawHeaders[i] ?? '', req.rawHeaders[i + 1] ?? ''])
  }
  // The client's Host header may be invalid.
  const base = URL.parse(`http://${req.headers.host ?? ''}`)?.origin ?? 'http://localhost'
  return { url: `${base}${path}${search === '' ? '' : `?${search}`}`, method: req.method ?? 'GET', headers }
}
