import type { Run } from '../../../runs/model.ts'
import { runJson } from '../../../runs/run-json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import type { RouteContext, Headers } from '../../api/route.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'
import { runLocation } from '../reply/run-location.ts'
import { CONNECTED_QUERY, toConnectedRequest, toRequest } from '../request/run-request.ts'
import { THREAD_PARAMS } from '../request/thread-params.ts'

const THREAD_TAG = 'Thread runs'
const STATELESS_TAG = 'Stateless runs'
const ERRORS = [
  'not_found',
  'thread_busy',
  'run_id_taken',
  'quota_reached',
  'metadata_too_large',
  'shutting_down',
] as const
const STATELESS_ERRORS = ['not_found', 'run_id_taken', 'quota_reached', 'shutting_down'] as const

type WaitContext = RouteContext<unknown, typeof CONNECTED_QUERY, SchemaTypes['run-create'], DeploymentDeps>

function locationOf(thread_id: string | null, { run_id }: Run): Headers {
  return { 'content-location': runLocation(thread_id, run_id) }
}

/**
 * Creates a run and responds with its result when it has ended. The headers, which contain the run's id, are sent at
 * once.
 */
async function waitFor(context: WaitContext, thread_id: string | null) {
  const { deps } = context
  const request = toConnectedRequest(context)
  const { run, result } = await deps.runs.wait(callOf(context), thread_id, request, context.gone())
  const location = runLocation(thread_id, run.run_id)
  return { headers: { 'content-location': location, location: `${location}/join` }, body: result }
}

/** Runs of threads, in the background or with their result. */
function threadRunRoutes(): DeploymentRoute[] {
  const shared = { tag: THREAD_TAG, params: THREAD_PARAMS, body: 'run-create', errors: ERRORS } as const
  return [
    deploymentRoute({
      ...shared,
      method: 'POST',
      path: '/threads/{thread_id}/runs',
      needs: 'threads:update',
      summary: 'Create a run in the background',
      reply: 'run',
      async handle(context) {
        const { thread_id } = context.params
        const run = await context.deps.runs.create(callOf(context), thread_id, toRequest(context.body))
        return { headers: locationOf(thread_id, run), body: runJson(run) }
      },
    }),
    deploymentRoute({
      ...shared,
      method: 'POST',
      path: '/threads/{thread_id}/runs/wait',
      needs: 'threads:update',
      summary: 'Create a run and wait for its result; newlines keep the connection alive',
      query: CONNECTED_QUERY,
      reply: 'bytes',
      reply_schema: 'run-result',
      handle: (context) => waitFor(context, context.params.thread_id),
    }),
  ]
}

/** Routes of stateless runs. Each has a new thread, which is deleted with the run unless the client keeps it. */
function statelessRunRoutes(): DeploymentRoute[] {
  const shared = { tag: STATELESS_TAG, errors: STATELESS_ERRORS } as const
  return [
    deploymentRoute({
      ...shared,
      method: 'POST',
      path: '/runs',
      needs: 'threads:create',
      summary: 'Create a stateless run in the background',
      body: 'run-create',
      reply: 'run',
      async handle(context) {
        const run = await context.deps.runs.create(callOf(context), null, toRequest(context.body))
        return { headers: locationOf(null, run), body: runJson(run) }
      },
    }),
    deploymentRoute({
      ...shared,
      method: 'POST',
      path: '/runs/wait',
      needs: 'threads:create',
      summary: 'Create a stateless run and wait for its result; newlines keep the connection alive',
      query: CONNECTED_QUERY,
      body: 'run-create',
      reply: 'bytes',
      reply_schema: 'run-result',
      handle: (context) => waitFor(context, null),
    }),
    deploymentRoute({
      ...shared,
      method: 'POST',
      path: '/runs/batch',
      needs: 'threads:create',
      summary: 'Create several stateless runs, all of them or none',
      body: 'run-batch',
      reply: 'run-list',
      async handle(context) {
        const runs = await context.deps.runs.createBatch(callOf(context), context.body.map(toRequest))
        return { body: runs.map((run) => runJson(run)) }
      },
    }),
  ]
}

export function runCreationRoutes(): DeploymentRoute[] {
  return [...threadRunRoutes(), ...statelessRunRoutes()]
}
