import type { Project } from '../../../ingest/project-store.ts'
import type { SpanFilter } from '../../../trace/otel/span/span-filter.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { type SqlSession, storableText } from '../driver/database.ts'

export interface ProjectRow extends Omit<Project, 'extra' | 'span_filters'> {
  extra: string
  span_filters: string
}

/** Columns in the order of a project's fields. */
export const PROJECT_COLUMNS =
  'workspace_id, id, name, description, extra, reference_dataset_id, start_time, end_time, retention_days, trace_tier, type, default_dataset_id, span_filters'
/** Name of the project of traces that name no project. */
export const DEFAULT_NAME = 'default'

export function toProject(row: ProjectRow): Project {
  return {
    ...row,
    extra: JSON.parse(row.extra) as JsonObject,
    span_filters: JSON.parse(row.span_filters) as SpanFilter[],
  }
}

/** Finds a project of the workspace by its id or name; undefined if there is none. */
export async function findProject(
  session: SqlSession,
  workspace_id: string,
  column: 'id' | 'name',
  value: string,
): Promise<Project | undefined> {
  const sql = `SELECT ${PROJECT_COLUMNS} FROM projects WHERE workspace_id = ? AND ${column} = ?`
  const [row] = await session.query<ProjectRow>(sql, [workspace_id, value])
  return row === undefined ? undefined : toProject(row)
}

/** Inserts the project. Returns false, without inserting it, if its id or its name is taken. */
export async function insertProject(session: SqlSession, project: Project): Promise<boolean> {
  const rows = await session.query(
    `INSERT INTO projects (${PROJECT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
    [
      project.workspace_id,
      project.id,
      project.name,
      project.description,
      JSON.stringify(project.extra),
      project.reference_dataset_id,
      project.start_time,
      project.end_time,
      project.retention_days,
      project.trace_tier,
      project.type,
      project.default_dataset_id,
      JSON.stringify(project.span_filters),
    ],
  )
  return rows.length > 0
}

/** A project that has only a name and the default retention. */
export function emptyProject(
  { workspace_id, id, name }: Pick<Project, 'workspace_id' | 'id' | 'name'>,
  { now, retention_days }: { now: number; retention_days: number | null },
): Project {
  return {
    workspace_id,
    id,
    name: storableText(name),
    description: null,
    extra: {},
    reference_dataset_id: null,
    start_time: now,
    end_time: null,
    retention_days,
    trace_tier: null,
    type: null,
    default_dataset_id: null,
    span_filters: [],
  }
}
