import { parseUuid } from '../../base/ids.ts'
import type { RouteHead } from './route.ts'

/**
 * Words of LangSmith's and LangGraph's published paths that stand where these APIs have ids, as in `/runs/rules`. The
 * routes that they belong to are not served.
 */
const PUBLISHED: ReadonlySet<string> = new Set([
  'active',
  'agent-versions',
  'basic',
  'batch',
  'count',
  'current',
  'eager',
  'formulas',
  'generate-query',
  'groups',
  'insights',
  'me',
  'metadata',
  'org',
  'pending',
  'rules',
  'search',
  'shared',
  'threads',
  'views',
])

type Values = Readonly<Record<string, string>>

function notIds({ params }: Pick<RouteHead, 'params'>, values: Values): string[] {
  return Object.entries(params).flatMap(([name, { schema }]) => {
    const value = values[name] ?? ''
    return schema['format'] === 'uuid' && parseUuid(value) === undefined ? [value] : []
  })
}

/** Whether a path that fits the route has something else than an id where the route has one. */
export function lacksId(route: Pick<RouteHead, 'params'>, values: Values): boolean {
  return notIds(route, values).length > 0
}

/** Whether a path that fits the route belongs to a published route that is not served. */
export function isOtherRoute(route: Pick<RouteHead, 'params'>, values: Values): boolean {
  return notIds(route, values).some((value) => PUBLISHED.has(value))
}
