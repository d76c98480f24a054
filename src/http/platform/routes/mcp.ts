import { MCP_REPLIES, serveMcp } from '../../mcp/serve-mcp.ts'
import { createAskRoute } from '../../mcp/ask-route.ts'
import { MCP_RESOURCE } from '../../../identity/oauth.ts'
import { challenge } from '../../server/callers/oauth-challenge.ts'
import { createTokenCounter } from '../mcp/budget.ts'
import { platformTools, toolServer } from '../mcp/tools.ts'
import { type PlatformRoute, route } from '../route.ts'

/** `POST /mcp`: tools that read traces, for coding agents. `routes` are those of the whole API, which tools ask. */
export function mcpRoutes(routes: () => readonly PlatformRoute[]): PlatformRoute[] {
  const tools = platformTools()
  const count = createTokenCounter()
  return [
    route({
      method: 'POST',
      path: '/mcp',
      needs: 'any key',
      summary: 'Tools that read traces, over the Model Context Protocol',
      description:
        'For coding agents; see docs/using/agents.md. Each tool needs the permission of the routes that it reads.',
      tag: 'Agents',
      body: 'raw',
      reply: 'bytes',
      wire_types: ['application/json'],
      other_replies: MCP_REPLIES,
      oauth: { path: () => MCP_RESOURCE, challenge },
      errors: ['body_too_large'],
      async handle({ deps, principal, body, req, gone }) {
        const { workspace_id, workspace_ids } = principal
        const context = {
          ask: createAskRoute(routes(), { deps, principal, req, gone }),
          count,
          workspace_ids: [workspace_id, ...workspace_ids.filter((id) => id !== workspace_id)],
          now: deps.clock.now(),
        }
        return await serveMcp(body, req.headers, toolServer(tools, context, deps.version))
      },
    }),
  ]
}
