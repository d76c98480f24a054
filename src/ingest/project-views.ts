/** A named list of a project: a filter, and how the list is shown. Everybody in the workspace sees it. */
export interface ProjectView {
  workspace_id: string
  project_id: string
  id: string
  /** Unique in the project. */
  name: string
  description: string | null
  /** Expression of the filter language; null for none. */
  filter: string | null
  /** Further parameters of the list, such as its columns; their meaning is that of the client. */
  params: Readonly<Record<string, string>>
  /** The user who made it; null for a service key. */
  created_by: string | null
  /** Epoch milliseconds. */
  created_at: number
  modified_at: number
}

export type ViewFields = Pick<ProjectView, 'name' | 'description' | 'filter' | 'params'>

/** Which view, in which workspace. */
export type ViewPlace = Pick<ProjectView, 'workspace_id' | 'project_id' | 'id'>

export interface ProjectViewStore {
  /** Sorted by name. */
  list(workspace_id: string, project_id: string): Promise<ProjectView[]>
  /** @throws AppError conflict when the name is taken, quota_reached when the project has too many */
  create(
    owner: Pick<ProjectView, 'workspace_id' | 'project_id' | 'created_by'>,
    fields: ViewFields,
  ): Promise<ProjectView>
  /** Undefined when there is no such view. @throws AppError conflict when the name is taken */
  update(place: ViewPlace, fields: Partial<ViewFields>): Promise<ProjectView | undefined>
  /** Returns false if there was no such view. */
  delete(place: ViewPlace): Promise<boolean>
}
