import { THREAD_MODES } from '../../../events/views.ts'
import type { EventStream } from '../../../runs/streams/streams.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { choicesParameter, uuidParameter } from '../../api/parameters.ts'
import type { RouteContext, RouteReply, Headers, LiveBody } from '../../api/route.ts'
import { callOf } from '../call-of.ts'
import { cancelsOnDisconnect, JOIN_QUERY } from '../request/cancel-on-disconnect.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentContext, type DeploymentRoute, deploymentRoute } from '../route.ts'
import { prefersCompactMessages } from '../request/prefers.ts'
import { runLocation } from '../reply/run-location.ts'
import { CONNECTED_QUERY, toConnectedRequest } from '../request/run-request.ts'
import { START_QUERY, streamStart } from '../request/stream-start.ts'
import { RUN_PARAMS, THREAD_PARAMS } from '../request/thread-params.ts'

/** Modes of run streams that a joining client may select. */
const RUN_MODES = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'custom',
  'events',
  'debug',
  'tasks',
  'checkpoints',
  'tools',
] as const

const RUN_JOIN_QUERY = {
  ...JOIN_QUERY,
  ...START_QUERY,
  stream_mode: choicesParameter('Only these of the modes that the run has.', RUN_MODES),
}
const THREAD_QUERY = {
  ...START_QUERY,
  stream_modes: choicesParameter('What to stream; run_modes if absent.', THREAD_MODES),
  stream_mode: choicesParameter('As SDKs call stream_modes.', THREAD_MODES),
}
const DESCRIPTION = 'Server-sent events, each with an id; docs/protocol/streams.md lists them.'
const PREFER = { prefer: '`messages=compact`: metadata of messages come once.' }
const RESUME = {
  ...PREFER,
  'last-event-id': 'Go on after the event with this id; `-` begins with the oldest that is kept.',
}

const EVENT_STREAM: Headers = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

type CreateContext = RouteContext<unknown, typeof CONNECTED_QUERY, SchemaTypes['run-create'], DeploymentDeps>
type JoinContext = RouteContext<unknown, typeof RUN_JOIN_QUERY, unknown, DeploymentDeps>
type ThreadContext = RouteContext<unknown, typeof THREAD_QUERY, unknown, DeploymentDeps>

/**
 * The response with a stream. `path` is the path at which a client can resume the stream; it contains the `asked`
 * modes, because an SDK resumes without the query of its first request. `run` must end with the run's id, because SDKs
 * read it there.
 */
function reply(
  { deps, req, principal }: DeploymentContext,
  stream: EventStream,
  { path, run, asked = [] }: { path: string; run?: string; asked?: readonly string[] },
): RouteReply<LiveBody> {
  const compact = prefersCompactMessages(req)
  const query = asked.length === 0 ? '' : `?stream_mode=${asked.join()}`
  return {
    headers: {
      ...EVENT_STREAM,
      location: `${path}/stream${query}`,
      ...(run !== undefined && { 'content-location': run }),
      ...(compact && { 'preference-applied': 'messages=compact' }),
    },
    body: deps.sse.body(stream, { compact, holder: principal.holder }),
  }
}

/** Opens a stream that counts against the limit of open streams until its response ends. */
async function inPlace(
  context: DeploymentContext,
  open: () => Promise<RouteReply<LiveBody>>,
): Promise<RouteReply<LiveBody>> {
  const leave = context.deps.sse.enter(context.principal.holder)
  try {
    return { ...(await open()), sent: leave }
  } catch (error) {
    leave()
    throw error
  }
}

async function create(context: CreateContext, thread_id: string | null): Promise<RouteReply<LiveBody>> {
  const request = toConnectedRequest(context)
  const { streams } = context.deps
  const { run, stream } = await streams.create(callOf(context), thread_id, request, context.gone())
  const place = runLocation(thread_id, run.run_id)
  return reply(context, stream, { path: place, run: place })
}

async function join(
  context: JoinContext,
  thread_id: string | null,
  run_id: string,
): Promise<RouteReply<LiveBody>> {
  const { deps, query, principal, req } = context
  const stream = await deps.streams.joinRun(callOf(context), thread_id, run_id, {
    from: streamStart(req, query),
    modes: query.stream_mode.length === 0 ? null : query.stream_mode,
    gone: context.gone(),
    cancel_on_disconnect: cancelsOnDisconnect(principal, query),
  })
  const place = runLocation(thread_id, run_id)
  return reply(context, stream, { path: place, run: place, asked: query.stream_mode })
}

async function joinThread(context: ThreadContext, thread_id: string): Promise<RouteReply<LiveBody>> {
  const { deps, query, req } = context
  const asked = [...query.stream_modes, ...query.stream_mode]
  const stream = await deps.streams.joinThread(callOf(context), thread_id, {
    from: streamStart(req, query),
    modes: asked.length === 0 ? ['run_modes'] : asked,
    gone: context.gone(),
  })
  return reply(context, stream, { path: `/threads/${thread_id}`, asked })
}

/** Streams of runs and threads, as server-sent events. */
export function streamRoutes(): DeploymentRoute[] {
  return [...createRoutes(), ...joinRoutes(), threadRoute()]
}

const SHARED = { reply: 'bytes', reply_type: 'text/event-stream', description: DESCRIPTION } as const

function createRoutes(): DeploymentRoute[] {
  const shared = {
    ...SHARED,
    method: 'POST',
    query: CONNECTED_QUERY,
    headers: PREFER,
    body: 'run-create',
  } as const
  return [
    deploymentRoute({
      ...shared,
      path: '/threads/{thread_id}/runs/stream',
      needs: 'threads:update',
      summary: 'Create a run and stream it',
      tag: 'Thread runs',
      params: THREAD_PARAMS,
      errors: [
        'not_found',
        'thread_busy',
        'run_id_taken',
        'too_many_streams',
        'quota_reached',
        'shutting_down',
      ],
      handle: (context) => inPlace(context, () => create(context, context.params.thread_id)),
    }),
    deploymentRoute({
      ...shared,
      path: '/runs/stream',
      needs: 'threads:create',
      summary: 'Create a stateless run and stream it',
      tag: 'Stateless runs',
      errors: ['not_found', 'run_id_taken', 'too_many_streams', 'quota_reached', 'shutting_down'],
      handle: (context) => inPlace(context, () => create(context, null)),
    }),
  ]
}

function joinRoutes(): DeploymentRoute[] {
  const shared = {
    ...SHARED,
    method: 'GET',
    needs: 'threads:read',
    query: RUN_JOIN_QUERY,
    headers: RESUME,
    errors: ['not_found', 'too_many_streams', 'shutting_down'],
  } as const
  return [
    deploymentRoute({
      ...shared,
      path: '/threads/{thread_id}/runs/{run_id}/stream',
      summary: 'Join the stream of a run, from now on or after an event',
      tag: 'Thread runs',
      params: RUN_PARAMS,
      handle: (context) =>
        inPlace(context, () => join(context, context.params.thread_id, context.params.run_id)),
    }),
    deploymentRoute({
      ...shared,
      path: '/runs/{run_id}/stream',
      summary: 'Join the stream of a stateless run, from now on or after an event',
      tag: 'Stateless runs',
      params: { run_id: uuidParameter('Id of the run.') },
      handle: (context) => inPlace(context, () => join(context, null, context.params.run_id)),
    }),
  ]
}

function threadRoute(): DeploymentRoute {
  return deploymentRoute({
    ...SHARED,
    method: 'GET',
    path: '/threads/{thread_id}/stream',
    needs: 'threads:read',
    summary:
      'Stream all runs of a thread, or their beginnings and ends, or states; makes no run and stays open',
    tag: 'Threads',
    params: THREAD_PARAMS,
    query: THREAD_QUERY,
    headers: RESUME,
    errors: ['not_found', 'too_many_streams', 'shutting_down'],
    handle: (context) => inPlace(context, () => joinThread(context, context.params.thread_id)),
  })
}
