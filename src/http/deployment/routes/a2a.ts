import type { Assistant } from '../../../runs/assistants/store.ts'
import { names, versionOf } from '../../server/answer/entity-tag.ts'
import { requiredTextParameter, textParameter } from '../../api/parameters.ts'
import type { RouteReply } from '../../api/route.ts'
import { agentAddress, agentCard } from '../a2a/card.ts'
import { serveA2a } from '../a2a/serve-a2a.ts'
import { type DeploymentContext, type DeploymentRoute, deploymentRoute } from '../route.ts'

const TAG = 'Agents'
const PARAMS = { assistant_id: requiredTextParameter('Id of the assistant, or the name of its graph.') }
const CARD_SECONDS = 300

/** The assistant with this id, or the default one of the graph with this name. */
async function findAssistant({ deps }: DeploymentContext, asked: string): Promise<Assistant | undefined> {
  const found = await deps.findAssistant(deps.tenant, asked)
  return found && (await deps.assistants.get(deps.tenant, found.assistant_id))
}

function cardOf({ deps, req }: DeploymentContext, assistant: Assistant) {
  const url = agentAddress(req, deps.public_url, assistant.assistant_id)
  return agentCard(assistant, url, deps.version)
}

async function cardReply(context: DeploymentContext, asked: string | undefined): Promise<RouteReply<string>> {
  const assistant = asked === undefined ? undefined : await findAssistant(context, asked)
  if (assistant !== undefined) {
    const body = JSON.stringify(cardOf(context, assistant))
    const version = versionOf(body)
    const headers = { 'cache-control': `private, max-age=${CARD_SECONDS}`, etag: `"${version}"` }
    const isKnown = names(context.req.headers['if-none-match'], version)
    return isKnown ? { status: 304, headers, body: '' } : { headers, body }
  }
  const [status, message] =
    asked === undefined
      ? [400, 'The query must name an assistant: ?assistant_id=.']
      : [404, 'There is no assistant with this id, and no graph of this name.']
  return { status, body: JSON.stringify({ error: { code: -32602, message } }) }
}

/** The assistants as agents of the A2A protocol: their cards, and their methods. */
export function a2aRoutes(): DeploymentRoute[] {
  const shared = {
    method: 'GET',
    needs: 'assistants:read',
    summary: 'The card of an assistant, for clients of the A2A protocol',
    tag: TAG,
    reply: 'bytes',
    other_replies: { 304: null, 400: 'agent-card-error', 404: 'agent-card-error' },
  } as const
  const paths = [
    '/a2a/{assistant_id}',
    '/a2a/{assistant_id}/.well-known/agent-card.json',
    '/a2a/{assistant_id}/.well-known/agent.json',
  ] as const
  return [
    deploymentRoute({
      ...shared,
      path: '/.well-known/agent-card.json',
      query: { assistant_id: textParameter('Id of the assistant, or the name of its graph.') },
      handle: (context) => cardReply(context, context.query.assistant_id),
    }),
    ...paths.map((path) =>
      deploymentRoute({
        ...shared,
        path,
        params: PARAMS,
        handle: (context) => cardReply(context, context.params.assistant_id),
      }),
    ),
    deploymentRoute({
      method: 'POST',
      path: '/a2a/{assistant_id}',
      needs: 'threads:read',
      summary: 'Messages and tasks of an assistant, over the A2A protocol',
      description:
        'JSON-RPC, with the methods of versions 0.3 and 1.0. A context is a thread, a task is a run that later messages may go on with. Messages and cancels also need threads:create.',
      tag: TAG,
      params: PARAMS,
      body: 'raw',
      reply: 'bytes',
      wire_types: ['application/json', 'text/event-stream'],
      errors: ['body_too_large', 'too_many_streams', 'quota_reached', 'shutting_down'],
      async handle(context) {
        const found = await findAssistant(context, context.params.assistant_id)
        const card = found === undefined ? {} : cardOf(context, found)
        return await serveA2a(context, context.body, { assistant_id: found?.assistant_id, card })
      },
    }),
  ]
}
