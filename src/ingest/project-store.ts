import type { JsonObject } from '../schema/json.ts'

/** Where traces are filed; LangSmith calls it a session. */
export interface Project {
  workspace_id: string
  id: string
  name: string
  description: string | null
  extra: JsonObject
  reference_dataset_id: string | null
  /** When it was made, epoch milliseconds. */
  start_time: number
  end_time: number | null
}

/** What a caller may say of a project; absent and null leave what is stored (SDKs send null for "not said"). */
export interface ProjectFields {
  name?: string | null
  description?: string | null
  extra?: JsonObject | null
  reference_dataset_id?: string | null
  start_time?: number | null
  end_time?: number | null
}

/** Which projects a list holds. */
export interface ProjectQuery {
  ids?: readonly string[]
  name?: string
  /** Ignores case. */
  name_contains?: string
  limit: number
  offset: number
}

/** Projects by workspace; names are unique in theirs. Names are kept as sent but for unpaired surrogates and NUL. */
export interface ProjectStore {
  /**
   * The id of the project that a TraceRun names, made if there is none: by id if one is given, else by name, else
   * "default". An unknown id makes a project of that id, named `session_name`, or the id when that name is taken.
   */
  resolve(
    workspace_id: string,
    reference: { session_name: string | null; session_id: string | null },
  ): Promise<string>
  /**
   * The id behind a name that was resolved in the last five seconds, from memory; undefined says nothing. For so long
   * a name may stand for its old project after another process has changed it.
   */
  known(workspace_id: string, name: string): string | undefined
  get(workspace_id: string, id: string): Promise<Project | undefined>
  /** Newest first. */
  list(workspace_id: string, query: ProjectQuery): Promise<Project[]>
  /**
   * Makes a project; with `upsert` changes the one of that name if there is one.
   * @throws AppError conflict when name or id is taken
   */
  create(
    workspace_id: string,
    fields: ProjectFields & { id?: string | null },
    options: { upsert: boolean },
  ): Promise<Project>
  /**
   * Changes the named fields; undefined if there is no such project.
   * @throws AppError conflict when the new name is taken
   */
  update(workspace_id: string, id: string, fields: ProjectFields): Promise<Project | undefined>
  /** The names of all projects of these workspaces, by `workspace_id/project_id`. For reports. */
  names(workspace_ids: readonly string[]): Promise<Map<string, string>>
}
