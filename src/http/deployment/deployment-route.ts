import type { SchemaName } from '../../schema/registry.ts'
import type { Parameters } from '../parameters.ts'
import { type Route, type RouteContext, type RouteDefinition, routeOn } from '../route.ts'
import type { DeploymentDeps } from './deployment-deps.ts'

/** A route of the deployment API. */
export type DeploymentRoute = Route<DeploymentDeps>

/** What handlers of the deployment API get, whatever their parameters and body. */
export type DeploymentContext = Pick<
  RouteContext<unknown, unknown, unknown, DeploymentDeps>,
  'deps' | 'principal' | 'req'
>

/** One route of the deployment API; as `route()` of the platform API. */
export function deploymentRoute<
  const P extends Parameters = Parameters,
  const Q extends Parameters = Parameters,
  const B extends SchemaName | 'raw' | undefined = undefined,
  const R extends SchemaName | 'bytes' = 'bytes',
>(definition: RouteDefinition<DeploymentDeps, P, Q, B, R>): DeploymentRoute {
  return routeOn<DeploymentDeps>()(definition)
}
