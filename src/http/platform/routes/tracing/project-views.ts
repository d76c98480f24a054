import { AppError } from '../../../../base/errors.ts'
import type { ProjectView, ViewFields } from '../../../../ingest/project-views.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseFilter } from '../../../../trace/filter/filter.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { found } from '../../request/body-fields.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'

const TAG = 'Projects'
const PROJECT = { id: uuidParameter('Id of the project.') }
const VIEW = { ...PROJECT, view_id: uuidParameter('Id of the view.') }

function toJson({ project_id, id, name, description, filter, params, ...view }: ProjectView) {
  return {
    id,
    session_id: project_id,
    display_name: name,
    description,
    filter_string: filter,
    params,
    created_by: view.created_by,
    created_at: new Date(view.created_at).toISOString(),
    updated_at: new Date(view.modified_at).toISOString(),
  }
}

/** The fields that a body has. @throws AppError invalid_request for an invalid filter */
function fieldsOf(body: SchemaTypes['project-view-update']): Partial<ViewFields> {
  const { display_name, description, filter_string, params } = body
  const filter = filter_string?.trim() || null
  if (filter !== null) parseFilter(filter)
  return {
    ...(display_name !== undefined && { name: display_name.trim() }),
    ...(description !== undefined && { description }),
    ...(filter_string !== undefined && { filter }),
    ...(params !== undefined && { params: params as ViewFields['params'] }),
  }
}

/** @throws AppError not_found for a project that the workspace does not have */
async function checkProject({ deps, principal }: PlatformCaller, id: string): Promise<void> {
  found(await deps.projects.get(principal.workspace_id, id), 'Session')
}

function foundView(view: ProjectView | undefined): ProjectView {
  if (view === undefined) throw new AppError('not_found', { message: 'View not found' })
  return view
}

function changingRoutes(): PlatformRoute[] {
  const about = { path: '/sessions/{id}/views/{view_id}', tag: TAG, params: VIEW }
  return [
    route({
      ...about,
      method: 'PATCH',
      needs: 'projects:create',
      summary: 'Change a view',
      body: 'project-view-update',
      reply: 'project-view',
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal: { workspace_id }, params: { id: project_id, view_id: id }, body }) {
        const place = { workspace_id, project_id, id }
        return { body: toJson(foundView(await deps.projectViews.update(place, fieldsOf(body)))) }
      },
    }),
    route({
      ...about,
      method: 'DELETE',
      needs: 'projects:create',
      summary: 'Delete a view',
      reply: 'empty-object',
      errors: ['not_found'],
      async handle({ deps, principal: { workspace_id }, params: { id: project_id, view_id: id } }) {
        const isGone = await deps.projectViews.delete({ workspace_id, project_id, id })
        if (!isGone) throw new AppError('not_found', { message: 'View not found' })
        return { body: {} }
      },
    }),
  ]
}

/** Named lists of a project, which everybody in the workspace sees. */
export function projectViewRoutes(): PlatformRoute[] {
  const about = { path: '/sessions/{id}/views', tag: TAG, params: PROJECT }
  return [
    route({
      ...about,
      method: 'GET',
      needs: 'projects:read',
      summary: 'List the views of a project',
      description: 'By name; a project has at most 200.',
      reply: 'project-view-list',
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        await checkProject({ deps, principal }, id)
        return { body: (await deps.projectViews.list(principal.workspace_id, id)).map(toJson) }
      },
    }),
    route({
      ...about,
      method: 'POST',
      needs: 'projects:create',
      summary: 'Save a view of a project',
      body: 'project-view-create',
      reply: 'project-view',
      errors: ['not_found', 'conflict', 'quota_reached'],
      async handle({ deps, principal, params: { id: project_id }, body }) {
        await checkProject({ deps, principal }, project_id)
        const { workspace_id, user_id: created_by } = principal
        const fields = { description: null, filter: null, params: {}, name: '', ...fieldsOf(body) }
        return {
          body: toJson(await deps.projectViews.create({ workspace_id, project_id, created_by }, fields)),
        }
      },
    }),
    ...changingRoutes(),
  ]
}
