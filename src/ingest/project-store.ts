import type { JsonObject } from '../schema/json.ts'
import type { ProjectFilters, SpanFilter } from '../trace/otel/span/span-filter.ts'

/** A project of traces; LangSmith calls it a session. */
export interface Project {
  workspace_id: string
  id: string
  name: string
  description: string | null
  extra: JsonObject
  reference_dataset_id: string | null
  /** Creation time of the project, epoch milliseconds. */
  start_time: number
  end_time: number | null
  /** Days for which TraceRuns are kept after they were received; null for unlimited time. */
  retention_days: number | null
  trace_tier: TraceTier | null
  /** Null if it was not sent. */
  type: ProjectType | null
  default_dataset_id: string | null
  /** Which spans are not kept; empty: all are kept. */
  span_filters: readonly SpanFilter[]
}

/** LangSmith's kinds of projects. */
export type ProjectType = 'PROJECT' | 'AGENT' | 'EXPERIMENT'

/**
 * The fields of a project that callers set; absent and null keep the stored value (SDKs send null for fields that are
 * not set).
 */
export interface ProjectFields {
  name?: string | null
  description?: string | null
  extra?: JsonObject | null
  reference_dataset_id?: string | null
  start_time?: number | null
  end_time?: number | null
  /** 0 for unlimited time. */
  retention_days?: number | null
  trace_tier?: TraceTier | null
  type?: ProjectType | null
  default_dataset_id?: string | null
  span_filters?: readonly SpanFilter[] | null
}

/** LangSmith's names for the durations for which traces are kept. */
export type TraceTier = 'longlived' | 'shortlived'

/** The fields that determine a project's position in sorted lists. */
export type ProjectKey = Pick<Project, 'id' | 'name' | 'start_time'>

/** The conditions of a list of projects. */
export interface ProjectQuery {
  ids?: readonly string[]
  name?: string
  /** Ignores case. */
  name_contains?: string
  reference_dataset_ids?: readonly string[]
  /** Only projects without a reference dataset, or only those with one. */
  reference_free?: boolean
  /** A project without a type is an experiment if it has a reference dataset. */
  types?: readonly ProjectType[]
  limit: number
  offset: number
  /** For tests: maximum size of a page instead of 32 MB. */
  max_bytes?: number
}

/**
 * Projects by workspace; names are unique within one. Names are stored as sent except for unpaired surrogates and NUL.
 */
export interface ProjectStore {
  /** Days for which new projects keep TraceRuns; null for unlimited time. */
  readonly retention_days: number | null
  /** The same for new projects of one workspace, which may have a retention of its own. */
  newRetention(workspace_id: string): Promise<number | null>
  /**
   * The id of the project of a TraceRun. A project that does not exist is created. The project is found by id
   * if the TraceRun has one, otherwise by name, otherwise it is "default". An unknown id creates a project
   * with that id and the name `session_name`, or with the id as its name when that name is taken.
   */
  resolve(
    workspace_id: string,
    reference: { session_name: string | null; session_id: string | null },
  ): Promise<string>
  /**
   * Returns the cached id of a name that was resolved in the last five seconds; undefined if it is not cached. If
   * another process changes a name, it may resolve to its old project for that time.
   */
  known(workspace_id: string, name: string): string | undefined
  /**
   * The filters of the workspace's projects that have any; of more than 1000 such projects, those of the first 1000. A
   * change by another process is used within five seconds; while the database cannot be reached, the last known ones
   * are.
   */
  spanFilters(workspace_id: string): Promise<readonly ProjectFilters[]>
  get(workspace_id: string, id: string): Promise<Project | undefined>
  /** Projects, newest first; `more` is true if the page is not the last. A page has at most 32 MB, or one project. */
  list(workspace_id: string, query: ProjectQuery): Promise<{ projects: Project[]; more: boolean }>
  /**
   * Creates a project; with `upsert` changes an existing one with that name. @throws AppError conflict when name or id
   * is taken
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
  /**
   * Applies the fields that `revise` returns for a project; null clears a field. Returns undefined if there is no such
   * project. `revise` must have no side effects, because it may run again.
   * @throws AppError conflict when the new name is taken
   */
  revise(
    workspace_id: string,
    id: string,
    revise: (before: Project) => Partial<Project>,
  ): Promise<Project | undefined>
  /** All projects that satisfy the conditions, unordered; at most 100,000. */
  keys(
    workspace_id: string,
    query: Omit<ProjectQuery, 'limit' | 'offset' | 'max_bytes'>,
  ): Promise<ProjectKey[]>
  /** The names of all projects of these workspaces, by `workspace_id/project_id`. For reports. */
  names(workspace_ids: readonly string[]): Promise<Map<string, string>>
  /** Deletes the project but not its TraceRuns. Undefined if there is none of that id. */
  delete(workspace_id: string, id: string): Promise<Project | undefined>
}
