import { NIL_UUID } from '../../base/ids.ts'
import type { UsageDimensions } from '../../schema/types.gen.ts'
import type { Group, Grouping } from './source.ts'

/** Names for reports, including those of deleted records. */
export interface UsageNames {
  /** By workspace id. */
  workspaces: ReadonlyMap<string, string>
  /** Names by `workspace_id/project_id`, because a project's id is unique only within its workspace. */
  projects: ReadonlyMap<string, string>
  /** By user id. */
  emails: ReadonlyMap<string, string>
  /** Short keys by key id. */
  short_keys: ReadonlyMap<string, string>
}

/** The dimensions of a group: its id and name, or the id twice if the name is unknown. */
export function dimensionsOf(group_by: Grouping, group: Group, names: UsageNames): UsageDimensions {
  const { workspace_id, dimension_id: id } = group
  switch (group_by) {
    case 'workspace':
      return { workspace_id: id, workspace_name: names.workspaces.get(id) ?? id }
    case 'project':
      return { project_id: id, project_name: names.projects.get(`${workspace_id}/${id}`) ?? id }
    case 'user':
      return id === NIL_UUID
        ? { user_id: null, user_email: null }
        : { user_id: id, user_email: names.emails.get(id) ?? null }
    case 'api_key':
      return { api_key_short_key: names.short_keys.get(id) ?? id }
  }
}

/** Sort key of a report's lines within a bucket: ids, and short keys as text; lines without a user come last. */
export function orderOf(
  group_by: Grouping,
  { workspace_id, dimension_id: id }: Group,
  names: UsageNames,
): string {
  if (group_by === 'api_key') return `${names.short_keys.get(id) ?? id} ${id}`
  return id === NIL_UUID ? '~' : `${id} ${workspace_id}`
}
