import type { ApiCall } from '../openapi/checked-api.ts'
import type { Objects, Tenant } from './tenant-world.ts'

export interface Caller {
  name: string
  organization: string
  key: string | undefined
  /** False for a caller whose key is unknown, expired or deleted. */
  isKey: boolean
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /** Role of the owner of a personal token; null for a service key. */
  member_role: 'admin' | 'operator' | 'user' | 'viewer' | null
  read_only: boolean
  /** The workspaces that the key may use. */
  workspace_ids: readonly string[]
  all_workspaces: boolean
  /** The workspace of a request of this caller without X-Tenant-Id. */
  default_workspace_id: string | null
  user_id: string | null
}

/** The ids of a tenant that requests contain. */
export type Target = Pick<Tenant, 'organization' | 'workspace_id'> & { objects: Objects }

/** The objects of a target, and its workspace. */
type Named = Objects & { workspace_id: string }

type Body = Readonly<Record<string, unknown>> | readonly unknown[] | Uint8Array

/**
 * How a route is called so that it succeeds if the caller has the permission and the target exists for it. `{}` for a
 * route that is called without any parameter.
 */
export interface Sample {
  /**
   * The workspaces in which the target must be to exist for the caller. `request`: the workspace of the request,
   * otherwise 404. `caller`: those of the caller, otherwise 404. `grant`: the same with 403, for routes that grant
   * something in the target. Absent: the call names nothing of another tenant, or the response is the same as if
   * that did not exist.
   */
  reach?: 'request' | 'caller' | 'grant'
  /** Objects of the target that are the parameters of the path, in their order. */
  ids?: readonly (keyof Named)[]
  /** Parameters of the path that are the same for every target. */
  path?: Readonly<Record<string, string>>
  query?: string | ((o: Named) => string)
  body?: Body | ((o: Named) => Body)
  headers?: Record<string, string>
  /** Whether the call is the same for every target; by default, if none of its parts depends on the target. */
  isFixed?: boolean
  /** Statuses that mean success; by default that of the route. */
  status?: readonly number[] | ((caller: Caller) => number[])
}

/** The call of a route about a target, without key, workspace and method. */
export function callOf(
  route: { path: string },
  sample: Sample,
  target: Target,
): Omit<ApiCall, 'key' | 'method'> {
  const named: Named = { ...target.objects, workspace_id: target.workspace_id }
  const ids = [...(sample.ids ?? [])]
  const path = route.path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const id = sample.path?.[name] === undefined ? ids.shift() : undefined
    return id === undefined ? (sample.path?.[name] ?? whole) : named[id]
  })
  const query = typeof sample.query === 'function' ? sample.query(named) : sample.query
  const body = typeof sample.body === 'function' ? sample.body(named) : sample.body
  return {
    path: query === undefined ? path : `${path}?${query}`,
    ...(body !== undefined && { body }),
    ...(sample.headers !== undefined && { headers: sample.headers }),
  }
}

export function isFixed({ isFixed: stated, ids, query, body }: Sample): boolean {
  return stated ?? (ids === undefined && typeof query !== 'function' && typeof body !== 'function')
}
