import type { Principal } from '../../identity/principal.ts'
import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'

/**
 * The workspaces that a body names, by default those of the caller. Null means all workspaces, including later ones,
 * and is the default for a caller with all workspaces. @throws AppError forbidden for a workspace that the caller may
 * not use, whether it exists or not
 */
export function readWorkspaceIds(
  principal: Principal,
  named: readonly string[] | null | undefined,
): string[] | null {
  if (named === null || named === undefined)
    return principal.all_workspaces ? null : [...principal.workspace_ids]
  return [...new Set(named.map((id) => ownWorkspaceId(principal, id)))]
}

/** @throws AppError forbidden for a workspace that the caller may not use, whether it exists or not */
export function ownWorkspaceId(principal: Principal, named: string): string {
  const id = parseUuid(named)
  if (id !== undefined && principal.workspace_ids.includes(id)) return id
  throw new AppError('forbidden', { message: 'Forbidden: your key may not use all of these workspaces.' })
}
