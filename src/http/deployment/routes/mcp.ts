import { createAskRoute } from '../../mcp/ask-route.ts'
import { MCP_REPLIES, serveMcp } from '../../mcp/serve-mcp.ts'
import { deploymentChallenge, deploymentResource } from '../../server/callers/oauth-challenge.ts'
import { graphTools } from '../mcp/graph-tools.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'

/** `POST /mcp`: the assistants as tools. `routes` are those of the whole API, which tools ask. */
export function mcpRoutes(routes: () => readonly DeploymentRoute[]): DeploymentRoute[] {
  return [
    deploymentRoute({
      method: 'POST',
      path: '/mcp',
      needs: 'assistants:read',
      summary: 'The assistants as tools, over the Model Context Protocol',
      description:
        'Each call is a run on a thread that is deleted afterwards; one that asks something keeps its thread for 24 hours. A call also needs threads:create.',
      tag: 'Agents',
      body: 'raw',
      reply: 'bytes',
      wire_types: ['application/json', 'text/event-stream'],
      other_replies: MCP_REPLIES,
      oauth: {
        path: ({ name }) => deploymentResource(name),
        challenge: ({ authorizes, name }, { req }) =>
          authorizes && deploymentChallenge(authorizes, req, name),
      },
      errors: ['body_too_large'],
      async handle(context) {
        const { deps, body, req, gone } = context
        const ask = createAskRoute(routes(), context)
        const info = { name: deps.name, version: deps.version }
        return await serveMcp(body, req.headers, graphTools({ context, ask, gone }, info))
      },
    }),
  ]
}
