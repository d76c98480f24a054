import type { Permission } from './permissions.ts'
import type { Principal } from './principal.ts'

/** The permissions and workspaces of a key or a member. */
export interface Reach {
  permissions: Iterable<Permission>
  /** Null = every workspace, also later ones. */
  workspace_ids: readonly string[] | null
}

type Caller = Pick<Principal, 'permissions' | 'workspace_ids' | 'all_workspaces'>

/** Whether the caller has all these permissions and workspaces; a caller cannot grant, change or remove more. */
export function covers(caller: Caller, { permissions, workspace_ids }: Reach): boolean {
  for (const permission of permissions) if (!caller.permissions.has(permission)) return false
  if (caller.all_workspaces) return true
  if (workspace_ids === null || workspace_ids.length === 0) return false
  return workspace_ids.every((id) => caller.workspace_ids.includes(id))
}

/** Whether one of these workspaces is the caller's, so that a record with these workspaces is visible to the caller. */
export function reachesAnyOf(caller: Caller, workspace_ids: readonly string[] | null): boolean {
  if (caller.all_workspaces || workspace_ids === null) return true
  return workspace_ids.some((id) => caller.workspace_ids.includes(id))
}

/** The workspaces of the list that are visible to the caller; null, which means all, is returned unchanged. */
export function seenOf(caller: Caller, workspace_ids: readonly string[] | null): string[] | null {
  if (workspace_ids === null) return null
  return caller.all_workspaces
    ? [...workspace_ids]
    : workspace_ids.filter((id) => caller.workspace_ids.includes(id))
}

/** The workspaces in both lists; null stands for all. */
export function sharedWorkspaces(
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null {
  if (a === null || b === null) return a ?? b
  return a.filter((id) => b.includes(id))
}
