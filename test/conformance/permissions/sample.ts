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

/** A call of a route that succeeds if the caller has the permission and the target exists for it. */
export interface Sample {
  /**
   * The workspaces in which the target must be to exist for the caller. `request`: the workspace of the request,
   * otherwise 404. `caller`: those of the caller, otherwise 404. `grant`: the same with 403, for routes that grant
   * something in the target. Absent: the call names nothing of another tenant, or the response is the same as if
   * that did not exist.
   */
  reach?: 'request' | 'caller' | 'grant'
  /** The call is the same for every target. */
  isFixed?: boolean
  /** The call, without its key and workspace. */
  call(target: Target, caller: Caller): Omit<ApiCall, 'key' | 'method'>
  /** Statuses that mean success; by default that of the route. */
  status?(caller: Caller): number[]
}

/** A call without its method. */
export const at = (path: string, body?: unknown, headers?: Record<string, string>) => ({
  path,
  ...(body !== undefined && { body }),
  ...(headers !== undefined && { headers }),
})

/** A sample whose call is the same for every target. */
export const fixed = (path: string, body?: unknown, headers?: Record<string, string>): Sample => ({
  isFixed: true,
  call: () => at(path, body, headers),
})
