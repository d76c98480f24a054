import type { SchemaName } from '../../schema/registry.ts'
import type { Parameters } from '../api/parameters.ts'
import { type Route, type RouteContext, type RouteDefinition, routeOn } from '../api/route.ts'
import type { DeploymentDeps } from './deps.ts'

export type DeploymentRoute = Route<DeploymentDeps>

/** The context of handlers of the deployment API, independent of their parameters and body. */
export type DeploymentContext = Pick<
  RouteContext<unknown, unknown, unknown, DeploymentDeps>,
  'deps' | 'principal' | 'req'
>

/** Defines one route of the deployment API, like `route()` of the platform API. */
export function deploymentRoute<
  const P extends Parameters = Parameters,
  const Q extends Parameters = Parameters,
  const B extends SchemaName | 'raw' | undefined = undefined,
  const R extends SchemaName | 'bytes' = 'bytes',
>(definition: RouteDefinition<DeploymentDeps, P, Q, B, R>): DeploymentRoute {
  return routeOn<DeploymentDeps>()(definition)
}
