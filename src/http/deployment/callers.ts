import type { Authenticator } from '../../auth/authenticator.ts'
import { type Permission, PERMISSIONS } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { deploymentFor } from '../../runs/access/deployment-for.ts'
import type { AccessRules } from '../../runs/access/rulings.ts'
import type { AccessUser } from '../../runs/model.ts'
import { credentialsOf } from '../credentials.ts'
import type { Exchange } from '../exchange.ts'
import type { DeploymentDeps } from './deployment-deps.ts'

/** A deployment's own auth file, as requests meet it. */
export interface UserAuthPort extends AccessRules {
  /** Users of LangGraph Studio are let in with a key of Weir. */
  readonly studio: boolean
  /** Undefined for a request that it does not let in. @throws AppError as its handler says; auth_unavailable */
  authenticate(request: {
    url: string
    method: string
    headers: [name: string, value: string][]
  }): Promise<AccessUser | undefined>
}

/** What a request acts on, with its principal set where that is not for its key alone to say. */
export type Identify = (exchange: Exchange) => Promise<DeploymentDeps>

/** Of the deployment API alone: what else a user may do their handlers say. */
const USER_PERMISSIONS: ReadonlySet<Permission> = new Set(
  PERMISSIONS.filter((permission) => /^(threads|assistants|store|crons):/.test(permission)),
)

/** Those of a key that users have too. */
function permissionsOf({ permissions }: Principal): Principal['permissions'] {
  return new Set([...permissions].filter((permission) => USER_PERMISSIONS.has(permission)))
}

/** Who Studio's requests act for, as on LangGraph's server; handlers know it by `isStudioUser`. */
const STUDIO_USER: AccessUser = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  is_authenticated: true,
  permissions: [],
}

/**
 * Identifies callers by the deployment's own auth file. Whom it lets in acts as that user, whatever key the request shows
 * besides: a proxy's key must not make its users admins. Users of Studio need a key, and may do no more than it may. Whom
 * the file does not let in may still show a key of Weir (`keys`, undefined with AUTH=off), which does what it may without
 * being asked further.
 */
export function createIdentify(
  deps: DeploymentDeps,
  userAuth: UserAuthPort,
  keys: Pick<Authenticator, 'authenticate'> | undefined,
): Identify {
  const keyHolder = async ({ req }: Exchange): Promise<Principal | undefined> => {
    const credentials = credentialsOf(req.headers)
    return credentials.key === undefined ? undefined : await keys?.authenticate(credentials)
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

/** The deployment itself, as its own code asks it. */
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

/** The request as its handler sees it, with the path of the deployment API. */
function requestOf({ req, path, search }: Exchange): Parameters<UserAuthPort['authenticate']>[0] {
  const headers: [string, string][] = []
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    headers.push([req.rawHeaders[i] ?? '', req.rawHeaders[i + 1] ?? ''])
  }
  // What the caller says of the host may be no host at all.
  const base = URL.parse(`http://${req.headers.host ?? ''}`)?.origin ?? 'http://localhost'
  return { url: `${base}${path}${search === '' ? '' : `?${search}`}`, method: req.method ?? 'GET', headers }
}
