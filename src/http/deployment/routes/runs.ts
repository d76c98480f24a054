import { within } from '../../../base/background/within.ts'
import { type Run, RUN_STATUSES } from '../../../runs/model.ts'
import { runJson } from '../../../runs/run-json.ts'
import type { Call } from '../../../runs/runs.ts'
import { isActive } from '../../../runs/state.ts'
import { partQuery, optionalChoiceParameter, uuidParameter } from '../../api/parameters.ts'
import type { RouteContext } from '../../api/route.ts'
import { callOf } from '../call-of.ts'
import { cancelsOnDisconnect, JOIN_QUERY } from '../request/cancel-on-disconnect.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'
import { LIST_ERRORS, listReply } from '../reply/list-reply.ts'
import { isGiven } from '../request/given.ts'
import { runLocation } from '../reply/run-location.ts'
import { RUN_PARAMS, SELECT_PARAMETER, THREAD_PARAMS } from '../request/thread-params.ts'

const TAG = 'Thread runs'
const SEARCH_LIMIT = 10
/** Maximum wait for tokens and cost. */
const TOTALS_MS = 1000
/**
 * Time after the end of a run in which its trace may not be stored yet. In this time, a client that polls for the end
 * gets a response at once, without tokens and cost.
 */
const TRACED_AFTER_MS = 2000

type JoinContext = RouteContext<unknown, typeof JOIN_QUERY, unknown, DeploymentDeps>

async function join(context: JoinContext, thread_id: string | null, run_id: string) {
  const cancel_on_disconnect = cancelsOnDisconnect(context.principal, context.query)
  const leaving = { gone: context.gone(), cancel_on_disconnect }
  const { run, result } = await context.deps.runs.join(callOf(context), thread_id, run_id, leaving)
  return { headers: { 'content-location': runLocation(thread_id, run.run_id) }, body: result }
}

/**
 * Tokens and cost of an ended run; null if its trace is not available soon enough, undefined while the run is active.
 */
async function totalsOf({ runs, clock }: DeploymentDeps, call: Call, run: Run) {
  if (isActive(run.status)) return undefined
  if (clock.now() - (run.ended_at ?? 0) < TRACED_AFTER_MS) return null
  const totals = runs.totals(call, run).catch(() => null)
  return await within(totals, TOTALS_MS, () => null)
}

/** Routes of existing runs: reading, waiting, deleting. */
export function runRoutes(): DeploymentRoute[] {
  return [listRoute(), searchRoute(), getRoute(), getAnyRoute(), deleteRoute(), ...joinRoutes()]
}

function listRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'GET',
    path: '/threads/{thread_id}/runs',
    needs: 'threads:read',
    summary: 'List the runs of a thread, newest first',
    tag: TAG,
    params: THREAD_PARAMS,
    query: {
      ...partQuery(10, 1000),
      status: optionalChoiceParameter('Only these.', RUN_STATUSES),
      select: SELECT_PARAMETER,
    },
    reply: 'bytes',
    reply_schema: 'run-list',
    errors: ['not_found', ...LIST_ERRORS],
    async handle(context) {
      const { limit, offset, status, select } = context.query
      const { thread_id } = context.params
      const page = { limit, offset, ...(status !== undefined && { status }) }
      return listReply(context, { list: 'runs', thread_id, page, select })
    },
  })
}

function searchRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'POST',
    path: '/runs/search',
    needs: 'threads:read',
    summary: 'List the runs of all threads, newest first; X-Pagination-Next has the next offset',
    tag: TAG,
    body: 'run-search',
    reply: 'bytes',
    reply_schema: 'run-list',
    errors: ['forbidden', ...LIST_ERRORS],
    async handle(context) {
      const { limit, offset, status, select } = context.body
      const page = { limit: limit ?? SEARCH_LIMIT, offset: offset ?? 0, ...(isGiven(status) && { status }) }
      return listReply(context, { list: 'runs', thread_id: null, page, select: select ?? [] })
    },
  })
}

function getRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'GET',
    path: '/threads/{thread_id}/runs/{run_id}',
    needs: 'threads:read',
    summary: 'Read a run; with tokens and cost from 2 s after its end',
    tag: TAG,
    params: RUN_PARAMS,
    reply: 'run',
    errors: ['not_found'],
    async handle(context) {
      const { thread_id, run_id } = context.params
      const call = callOf(context)
      const run = await context.deps.runs.get(call, thread_id, run_id)
      const totals = await totalsOf(context.deps, call, run)
      return { body: runJson(run, totals) }
    },
  })
}

function getAnyRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'GET',
    path: '/runs/{run_id}',
    needs: 'threads:read',
    summary: 'Read a run by its id, on any thread',
    tag: TAG,
    params: { run_id: uuidParameter('Id of the run.') },
    reply: 'run',
    errors: ['not_found'],
    async handle(context) {
      const call = callOf(context)
      const run = await context.deps.runs.get(call, null, context.params.run_id)
      return { body: runJson(run, await totalsOf(context.deps, call, run)) }
    },
  })
}

function deleteRoute(): DeploymentRoute {
  return deploymentRoute({
    method: 'DELETE',
    path: '/threads/{thread_id}/runs/{run_id}',
    needs: 'threads:delete',
    summary: 'Delete a run that has ended; its checkpoints stay',
    tag: TAG,
    params: RUN_PARAMS,
    reply: 'bytes',
    status: 204,
    errors: ['not_found', 'conflict'],
    async handle(context) {
      const { thread_id, run_id } = context.params
      await context.deps.runs.remove(callOf(context), thread_id, run_id)
      return { body: '' }
    },
  })
}

function joinRoutes(): DeploymentRoute[] {
  const shared = {
    method: 'GET',
    needs: 'threads:read',
    query: JOIN_QUERY,
    reply: 'bytes',
    reply_schema: 'run-result',
    errors: ['not_found', 'shutting_down'],
  } as const
  return [
    deploymentRoute({
      ...shared,
      path: '/threads/{thread_id}/runs/{run_id}/join',
      summary: 'Wait for the result of a run; newlines keep the connection alive',
      tag: TAG,
      params: RUN_PARAMS,
      handle: (context) => join(context, context.params.thread_id, context.params.run_id),
    }),
    deploymentRoute({
      ...shared,
      path: '/runs/{run_id}/join',
      summary: 'Wait for the result of a stateless run; newlines keep the connection alive',
      tag: 'Stateless runs',
      params: { run_id: uuidParameter('Id of the run.') },
      handle: (context) => join(context, null, context.params.run_id),
    }),
  ]
}
