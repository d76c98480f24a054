import { type Route, type RouteContext, routeOn } from '../api/route.ts'
import type { AppDeps } from './app-deps.ts'

export type PlatformRoute = Route<AppDeps>

/** Arguments of the handlers of the platform API. */
export type PlatformContext<B = unknown> = RouteContext<unknown, unknown, B, AppDeps>

/** Who asks, and what the answer is made with. */
export type PlatformCaller = Pick<PlatformContext, 'deps' | 'principal'>

/** Defines one route of the platform API. */
export const route = routeOn<AppDeps>()
