import { type Route, type RouteContext, routeOn } from '../api/route.ts'
import type { DeploymentDeps } from './deps.ts'

export type DeploymentRoute = Route<DeploymentDeps>

/** The context of handlers of the deployment API, independent of their parameters and body. */
export type DeploymentContext = Pick<
  RouteContext<unknown, unknown, unknown, DeploymentDeps>,
  'deps' | 'principal' | 'req'
>

/** Defines one route of the deployment API, like `route()` of the platform API. */
export const deploymentRoute = routeOn<DeploymentDeps>()
