import { AppError } from '../../../base/errors.ts'
import type { CancelResult, CancelSelector } from '../../../runs/run-store.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { choiceParameter, flagParameter } from '../../api/parameters.ts'
import { callOf } from '../call-of.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'
import { isGiven } from '../request/given.ts'
import { prefers } from '../request/prefers.ts'
import { sameUuid } from '../request/same-uuid.ts'
import { RUN_PARAMS } from '../request/thread-params.ts'

const TAG = 'Cancel'
const QUERY = {
  action: choiceParameter(
    'interrupt keeps the checkpoints of the run; rollback deletes the run and its checkpoints.',
    ['interrupt', 'rollback'],
  ),
  wait: flagParameter('Answer when it has ended.', false),
}

/** Accepts exactly one of the two ways to name runs. @throws AppError invalid_request */
function toSelector({ status, thread_id, run_ids }: SchemaTypes['run-cancel-many']): CancelSelector {
  if (isGiven(status) && !isGiven(thread_id) && !isGiven(run_ids)) return { status }
  if (!isGiven(status) && isGiven(thread_id) && isGiven(run_ids)) {
    return { thread_id: sameUuid(thread_id), run_ids: run_ids.map(sameUuid) }
  }
  throw new AppError('invalid_request', { message: 'Send either status, or thread_id and run_ids.' })
}

function toResult({ run_id, thread_id, outcome, status }: CancelResult) {
  return { run_id, thread_id, outcome, status }
}

/** Cancelling runs, one or many. */
export function cancelRoutes(): DeploymentRoute[] {
  return [
    deploymentRoute({
      method: 'POST',
      path: '/threads/{thread_id}/runs/{run_id}/cancel',
      needs: 'threads:update',
      summary: 'Cancel a run: 202 when the cancel is accepted, 204 with wait when the run has ended',
      tag: TAG,
      params: RUN_PARAMS,
      query: {
        ...QUERY,
        early: flagParameter('Remember it for 60 s if there is no such run yet (202).', false),
      },
      reply: 'bytes',
      status: 204,
      other_replies: { 202: null },
      errors: ['not_found', 'run_not_active', 'shutting_down'],
      async handle(context) {
        const { params, query } = context
        await context.deps.runs.cancel(callOf(context), params.thread_id, params.run_id, query)
        return { status: query.wait ? 204 : 202, body: '' }
      },
    }),
    deploymentRoute({
      method: 'POST',
      path: '/runs/cancel',
      needs: 'threads:update',
      summary: 'Cancel runs by ids or by status; with Prefer: return=representation each one’s outcome',
      tag: TAG,
      query: QUERY,
      body: 'run-cancel-many',
      reply: 'bytes',
      status: 204,
      other_replies: { 200: 'run-cancel-results' },
      errors: ['not_found', 'shutting_down'],
      async handle(context) {
        const selector = toSelector(context.body)
        const results = await context.deps.runs.cancelMany(callOf(context), selector, context.query)
        if (!prefers(context.req, 'representation')) return { body: '' }
        return {
          status: 200,
          headers: { 'preference-applied': 'return=representation' },
          body: JSON.stringify(results.map(toResult)),
        }
      },
    }),
  ]
}
