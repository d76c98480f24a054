import { AppError } from '../../../../base/errors.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import {
  flagParameter,
  optionalChoiceParameter,
  partQuery,
  textsParameter,
  unsupportedParameter,
  uuidParameter,
  uuidsParameter,
} from '../../../api/parameters.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { NEXT_PAGE, nextHeader } from '../../next-page.ts'
import { STORE_FEEDBACK_ERRORS, storeFeedback } from './store-feedback.ts'

const TAG = 'Feedback'
const PARAMS = { id: uuidParameter('Id of the feedback.') }

function listRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/feedback',
    needs: 'runs:read',
    summary: 'List feedback, newest first',
    tag: TAG,
    query: {
      run: uuidsParameter('Only on these runs.'),
      session: uuidsParameter('Only on runs of these projects, or on the projects themselves.'),
      key: textsParameter('Only these keys.'),
      source: textsParameter('Only these source types, e.g. api, model.'),
      level: optionalChoiceParameter('On runs or on whole projects.', ['run', 'session']),
      has_score: flagParameter('Only with, or only without a score.', undefined),
      has_comment: flagParameter('Only with, or only without a comment.', undefined),
      user: unsupportedParameter(),
      min_created_at: unsupportedParameter(),
      max_created_at: unsupportedParameter(),
      comparative_experiment_id: unsupportedParameter(),
      ...partQuery(100),
    },
    description: NEXT_PAGE,
    reply: 'bytes',
    reply_schema: 'feedback-list',
    errors: ['store_unavailable'],
    async handle({ deps, principal, query: { run, session, key, source, offset, ...rest } }) {
      const { level, has_score, has_comment, limit } = rest
      const among = { run_ids: run, project_ids: session, keys: key, sources: source }
      const query = { ...among, level, has_score, has_comment, limit, offset }
      const { body, ...page } = await deps.reads.feedback(principal.workspace_id, query)
      return { headers: nextHeader({ ...page, offset }), body }
    },
  })
}

function found(record: JsonObject | undefined): SchemaTypes['feedback-read'] {
  if (record === undefined) throw new AppError('not_found', { message: 'Feedback not found' })
  return record as SchemaTypes['feedback-read']
}

function readRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/feedback/{id}',
    needs: 'runs:read',
    summary: 'Read one feedback record',
    tag: TAG,
    params: PARAMS,
    reply: 'feedback-read',
    errors: ['not_found', 'store_unavailable'],
    handle: async ({ deps, principal, params: { id } }) => ({
      body: found(await deps.feedback.records.read(principal.workspace_id, id)),
    }),
  })
}

function changeRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'PATCH',
      path: '/feedback/{id}',
      needs: 'runs:create',
      summary: 'Change a feedback record',
      description: 'An absent field is not changed, null clears it.',
      tag: TAG,
      params: PARAMS,
      body: 'feedback-update',
      reply: 'feedback-read',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { id }, body }) {
        const changes = body as JsonObject
        return { body: found(await deps.feedback.records.update(principal.workspace_id, id, changes)) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/feedback/{id}',
      needs: 'runs:create',
      summary: 'Delete a feedback record',
      tag: TAG,
      params: PARAMS,
      reply: 'empty-object',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { id } }) {
        if (await deps.feedback.records.delete(principal.workspace_id, id)) return { body: {} }
        throw new AppError('not_found', { message: 'Feedback not found' })
      },
    }),
  ]
}

export function feedbackRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/feedback',
      needs: 'runs:create',
      summary: 'Create feedback on a run',
      description: 'Reads include the record as soon as this responds, unless the store is unreachable.',
      tag: TAG,
      body: 'feedback-create',
      reply: 'feedback-read',
      errors: [...STORE_FEEDBACK_ERRORS],
      handle: async ({ deps, principal, req: { headers }, body }) => ({
        body: await storeFeedback(body, { deps, principal, headers }),
      }),
    }),
    listRoute(),
    readRoute(),
    ...changeRoutes(),
  ]
}
