import type { Database } from '../driver/database.ts'

export interface ProjectPlace {
  workspace_id: string
  project_id: string
}

export function projectsOfName(database: Database, name: string): Promise<ProjectPlace[]> {
  return database.query<ProjectPlace>(
    'SELECT workspace_id, id AS project_id FROM projects WHERE name = ? ORDER BY workspace_id',
    [name],
  )
}
