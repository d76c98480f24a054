import type { ApiCall } from '../openapi/checked-api.ts'
import type { Objects, Tenant } from './tenant-world.ts'

/** A kind of caller. */
export interface Caller {
  name: string
  organization: string
  key: string | undefined
  /** False: unknown, expired, deleted. */
  isKey: boolean
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /** Role of the owner of a personal token; null for a service key. */
  member_role: 'admin' | 'operator' | 'user' | 'viewer' | null
  read_only: boolean
  /** The workspaces that the key may use. */
  workspace_ids: readonly string[]
  all_workspaces: boolean
  /** The workspace of its requests without X-Tenant-Id. */
  default_workspace_id: string | null
  user_id: string | null
}

/** The ids of a tenant that a request names. */
export type Target = Pick<Tenant, 'organization' | 'workspace_id'> & { objects: Objects }

/** A call of a route that succeeds if the caller has the permission. */
export interface Sample {
  /**
   * Decides whether the target exists for the caller: the workspace of the request (404), or those of the caller (404,
   * or 403 if the route grants something in the target). Absent: the route names nothing of another tenant, or responds
   * as if there were nothing.
   */
  reach?: 'request' | 'caller' | 'grant'
  /** The call does not depend on the target. */
  isFixed?: boolean
  /** The call, without key and workspace. */
  call(target: Target, caller: Caller): Omit<ApiCall, 'key' | 'method'>
  /** Statuses of success; default: that of the route. */
  status?(caller: Caller): number[]
}
