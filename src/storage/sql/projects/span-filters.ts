import type { Clock } from '../../../base/clock.ts'
import { RecentMap } from '../../../base/recent-map.ts'
import type { ProjectStore } from '../../../ingest/project-store.ts'
import type { ProjectFilters, SpanFilter } from '../../../trace/otel/span/span-filter.ts'
import type { Database } from '../driver/database.ts'

/** Maximum number of projects with filters in one workspace. */
const MAX_PROJECTS = 1000
/** Maximum number of workspaces whose filters are cached. */
const MAX_WORKSPACES = 10_000
/** Maximum delay until a change by another process is used. */
const MAX_AGE_MS = 5_000

interface ReadFilters {
  filters: readonly ProjectFilters[]
  until: number
}

/** Reads and caches the filters of workspaces. Ingest asks for every request with spans. */
export function createSpanFilters(
  database: Database,
  clock: Clock,
): { of: ProjectStore['spanFilters']; forget(workspace_id: string): void } {
  const read = new RecentMap<string, ReadFilters>(MAX_WORKSPACES)
  let changes = 0

  const load = async (workspace_id: string): Promise<readonly ProjectFilters[]> => {
    const rows = await database.query<{ id: string; name: string; span_filters: string }>(
      `SELECT id, name, span_filters FROM projects WHERE workspace_id = ? AND span_filters <> '[]'
       ORDER BY id LIMIT ?`,
      [workspace_id, MAX_PROJECTS],
    )
    return rows.map(({ id, name, span_filters }) => ({
      project_id: id,
      project_name: name,
      filters: JSON.parse(span_filters) as SpanFilter[],
    }))
  }

  return {
    async of(workspace_id) {
      const known = read.get(workspace_id)
      if (known !== undefined && clock.steady() < known.until) return known.filters
      const before = changes
      try {
        const filters = await load(workspace_id)
        // Filters that were read before a change must not be held after it.
        if (changes === before) read.set(workspace_id, { filters, until: clock.steady() + MAX_AGE_MS })
        return filters
      } catch (error) {
        // If the database cannot be reached, ingest continues with the last known filters.
        if (known === undefined) throw error
        return known.filters
      }
    },
    forget(workspace_id) {
      changes++
      read.delete(workspace_id)
    },
  }
}
