import { AppError } from '../../../base/errors.ts'
import { carryOut } from '../../../runs/streams-v2/commands/commands.ts'
import { isChannel } from '../../../runs/streams-v2/filter.ts'
import { placeOfSseId } from '../../../runs/streams-v2/protocol-event.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import type { RouteContext } from '../../api/route.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'
import { commandDeps, commandOf, NO_COMMAND } from '../request/protocol-command.ts'
import { THREAD_PARAMS } from '../request/thread-params.ts'

type StreamContext = RouteContext<unknown, unknown, SchemaTypes['protocol-stream'], DeploymentDeps>

/** Routes of protocol v2: commands, and events as server-sent events. */
export function protocolRoutes(): DeploymentRoute[] {
  return [
    deploymentRoute({
      method: 'POST',
      path: '/threads/{thread_id}/commands',
      // Each command also requires its own permission.
      needs: 'threads:read',
      summary: 'A command of protocol v2',
      description:
        'docs/protocol/streams-v2.md says what there is. A refused command is answered with 200 as well.',
      tag: 'Protocol v2',
      params: THREAD_PARAMS,
      body: 'protocol-command',
      unreadable: { status: 400, body: NO_COMMAND },
      reply: 'protocol-answer',
      other_replies: { 400: 'protocol-answer' },
      errors: ['quota_reached', 'shutting_down'],
      async handle(context) {
        const command = commandOf(context.body)
        if (command === undefined) return { status: 400, body: NO_COMMAND }
        const { thread_id } = context.params
        const answer = await carryOut(commandDeps(context, thread_id), callOf(context), thread_id, command)
        return { body: answer as unknown as SchemaTypes['protocol-answer'] }
      },
    }),
    deploymentRoute({
      method: 'POST',
      path: '/threads/{thread_id}/stream/events',
      needs: 'threads:read',
      summary: 'Events of a thread in protocol v2; stays open until the thread is deleted',
      description:
        'Server-sent events; docs/protocol/streams-v2.md lists them and says where a stream begins.',
      tag: 'Protocol v2',
      params: THREAD_PARAMS,
      headers: { 'last-event-id': 'Go on after the event with this id.' },
      body: 'protocol-stream',
      reply: 'bytes',
      reply_type: 'text/event-stream',
      errors: ['too_many_streams', 'shutting_down'],
      handle: (context) => follow(context, context.params.thread_id),
    }),
  ]
}

async function follow(context: StreamContext, thread_id: string) {
  const { deps, body, principal, req } = context
  const channels = body.channels.filter(isChannel)
  if (channels.length === 0)
    throw new AppError('invalid_request', { message: 'None of the channels is known.' })
  const header = String(req.headers['last-event-id'] ?? '').trim()
  const place = placeOfSseId(header)
  if (header !== '' && place === undefined)
    throw new AppError('invalid_request', { message: 'Last-Event-ID must be the id of an event.' })
  const after = body.since ?? place
  const leave = deps.sse.enter(principal.holder)
  try {
    const filter = { channels, namespaces: body.namespaces ?? [], depth: body.depth ?? undefined }
    const stream = await deps.streams.followThread(callOf(context), thread_id, {
      filter,
      after,
      gone: context.gone(),
    })
    return {
      headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
      body: deps.sse.protocolBody(stream, principal.holder),
      sent: leave,
    }
  } catch (error) {
    leave()
    throw error
  }
}
