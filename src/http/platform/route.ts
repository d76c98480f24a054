import type { SchemaName } from '../../schema/registry.ts'
import type { Parameters } from '../api/parameters.ts'
import {
  type GuardedRoute,
  type Route,
  type RouteContext,
  type RouteDefinition,
  routeOn,
} from '../api/route.ts'
import type { AppDeps } from './app-deps.ts'

export type PlatformRoute = Route<AppDeps>

/** A route of the platform API with the permission that it requires. */
export type GuardedPlatformRoute = GuardedRoute<AppDeps>

/** Arguments of the handlers of the platform API. */
export type PlatformContext<B = unknown> = RouteContext<unknown, unknown, B, AppDeps>

export function route<
  const P extends Parameters = Parameters,
  const Q extends Parameters = Parameters,
  const B extends SchemaName | 'raw' | undefined = undefined,
  const R extends SchemaName | 'bytes' = 'bytes',
>(definition: RouteDefinition<AppDeps, P, Q, B, R>): PlatformRoute {
  return routeOn<AppDeps>()(definition)
}
