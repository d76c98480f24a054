import type { ErrorCode } from '../../base/errors.ts'
import { countMatching, type ListRequest } from '../../runs/lists.ts'
import type { RouteContext, RouteReply } from '../route.ts'
import { callOf } from './call-of.ts'
import type { DeploymentDeps } from './deployment-deps.ts'
import { pageHeaders } from './page-headers.ts'

/** What every list may answer besides. */
export const LIST_ERRORS = ['rate_limited', 'worker_timeout'] as const satisfies readonly ErrorCode[]

type Context = Pick<
  RouteContext<unknown, unknown, unknown, DeploymentDeps>,
  'deps' | 'principal' | 'req' | 'gone'
>

/** A page of a list as an answer, with headers that tell how to go on. */
export async function listReply(context: Context, request: ListRequest): Promise<RouteReply<Uint8Array>> {
  const page = await context.deps.lists.read(callOf(context), request, context.gone())
  const { body, sent } = page
  return { headers: pageHeaders({ ...page, offset: offsetOf(request) }), body, sent }
}

/** How many records a list has, as an answer. */
export async function countReply(
  context: Context,
  request: Parameters<typeof countMatching>[2],
): Promise<RouteReply<number>> {
  return { body: await countMatching(context.deps.lists, callOf(context), request, context.gone()) }
}

function offsetOf(request: ListRequest): number {
  if ('search' in request) return request.search.offset
  return 'query' in request ? request.query.offset : request.page.offset
}
