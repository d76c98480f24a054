import { type ApiHead, openApiDocument } from '../api/openapi.ts'
import { type RouteGroup, routeGroup } from './http-options.ts'
import type { DeploymentRoute } from './route.ts'
import { a2aRoutes } from './routes/a2a.ts'
import { assistantGraphRoutes } from './routes/assistant-graphs.ts'
import { assistantRoutes } from './routes/assistants.ts'
import { cancelRoutes } from './routes/cancel.ts'
import { cronRoutes } from './routes/crons.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { protocolRoutes } from './routes/protocol.ts'
import { runCreationRoutes } from './routes/run-creation.ts'
import { runRoutes } from './routes/runs.ts'
import { streamRoutes } from './routes/streams.ts'
import { storeRoutes } from './routes/store.ts'
import { systemRoutes } from './routes/system.ts'
import { threadRoutes } from './routes/threads.ts'
import { threadStateRoutes } from './routes/thread-state.ts'
import { uiRoutes } from './routes/ui.ts'

export const DEPLOYMENT_API: ApiHead = {
  title: 'Weir deployment API',
  description:
    'Threads, runs, assistants, store and crons of one deployment, as clients of LangGraph Platform know them.',
  server: '.',
  pathOf: (path) => path,
  problem: 'deployment-problem',
  body_errors: ['body_too_large', 'unsupported_media_type', 'unsupported_encoding'],
}

/** The routes of the deployment API without the disabled groups. */
export function deploymentRoutes(disabled: ReadonlySet<RouteGroup> = new Set()): DeploymentRoute[] {
  let document: object | undefined
  const openApi = (version: string): object => (document ??= openApiDocument(routes, version, DEPLOYMENT_API))
  const all: DeploymentRoute[] = [
    ...threadRoutes(),
    ...threadStateRoutes(),
    ...runCreationRoutes(),
    ...runRoutes(),
    ...streamRoutes(),
    ...protocolRoutes(),
    ...cancelRoutes(),
    ...assistantRoutes(),
    ...assistantGraphRoutes(),
    ...storeRoutes(),
    ...cronRoutes(),
    ...uiRoutes(),
    ...mcpRoutes(() => all),
    ...a2aRoutes(),
    ...systemRoutes(openApi),
  ]
  const routes = all.filter(({ path }) => {
    const group = routeGroup(path)
    return group === undefined || !disabled.has(group)
  })
  return routes
}
