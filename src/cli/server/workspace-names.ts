import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { ApiClient } from './api-client.ts'

/** The workspaces that the key may use, by name and id. */
export interface WorkspaceNames {
  ids: readonly string[]
  /**
   * The id of the workspace with this name; an id is returned unchanged. @throws AppError invalid_request unless
   * exactly one has the name
   */
  idOf(nameOrId: string): string
  /** Returns the names; `all` for null. */
  text(ids: readonly string[] | null): string
}

export async function readWorkspaceNames(api: ApiClient): Promise<WorkspaceNames> {
  const workspaces = await api.json<SchemaTypes['workspace'][]>('/workspaces')
  const nameOf = new Map(workspaces.map(({ id, display_name }) => [id, display_name]))
  return {
    ids: workspaces.map(({ id }) => id),
    idOf(nameOrId) {
      const found = workspaces.filter(({ display_name }) => display_name === nameOrId)
      const id = found.length === 0 ? parseUuid(nameOrId) : found[0]?.id
      if (id !== undefined && found.length <= 1) return id
      const what = found.length === 0 ? 'There is no workspace' : 'More than one workspace is named'
      throw new AppError('invalid_request', {
        message: `${what} "${nameOrId}"; weir workspaces list shows ids.`,
      })
    },
    text: (ids) => (ids === null ? 'all' : ids.map((id) => nameOf.get(id) ?? id).join(', ')),
  }
}
