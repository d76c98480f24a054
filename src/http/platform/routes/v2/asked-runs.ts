import { AppError } from '../../../../base/errors.ts'
import type { SelectedPage, SelectedWhere } from '../../../../query/selected-reads.ts'
import type { SchemaTypes, TraceRunSelect } from '../../../../schema/types.gen.ts'
import type { AppDeps } from '../../app-deps.ts'
import { defined, bodyTime, uuidsOf } from '../../request/body-fields.ts'

type QueryBody = SchemaTypes['trace-run-query-v2'] | SchemaTypes['trace-query-v2']

/** The common fields of the bodies of both queries of API v2, as parts of a SelectedPage. */
export function readQuery(
  body: QueryBody,
  defaults: { page_size: number },
): Pick<SelectedPage, 'request' | 'page_size' | 'cursor'> & { selects: readonly TraceRunSelect[] } & {
  where: Partial<SelectedWhere>
} {
  const { cursor, page_size, ai_search, sem_filter, ...request } = body
  if (ai_search !== undefined || sem_filter !== undefined) {
    const message = 'Searching with a model is not supported; use filter, trace_filter and tree_filter.'
    if ((ai_search ?? sem_filter ?? null) !== null) throw new AppError('not_implemented', { message })
  }
  const { filter, trace_filter, tree_filter } = body
  const where: Partial<SelectedWhere> = defined({
    from: bodyTime(body, 'min_start_time'),
    to: bodyTime(body, 'max_start_time'),
    feedback_from: bodyTime(body, 'min_feedback_modified_at'),
    feedback_to: bodyTime(body, 'max_feedback_modified_at'),
    filter,
    trace_filter,
    tree_filter,
  })
  return {
    request: defined(request),
    where,
    selects: selectsOf(body.selects),
    page_size: page_size ?? defaults.page_size,
    ...(cursor && { cursor }),
  }
}

/** The selected fields; only the id if no field is selected (S-8). */
export function selectsOf(selects: readonly TraceRunSelect[] | null | undefined): readonly TraceRunSelect[] {
  return selects === null || selects === undefined || selects.length === 0 ? ['ID'] : selects
}

/**
 * Ids of projects in one spelling.
 * @throws AppError not_found unless the workspace has all of them
 */
export async function projectsOf(
  { projects }: Pick<AppDeps, 'projects'>,
  workspace_id: string,
  sent: readonly string[],
): Promise<string[]> {
  const ids = [...new Set(uuidsOf(sent))]
  const page = await projects.list(workspace_id, { ids, limit: ids.length, offset: 0 })
  const known = new Set(page.projects.map(({ id }) => id))
  if (ids.some((id) => !known.has(id))) throw new AppError('not_found', { message: 'Project not found' })
  return ids
}
