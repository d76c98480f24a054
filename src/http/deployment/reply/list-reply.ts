import type { ErrorCode } from '../../../base/errors.ts'
import { countMatching, type ListPage, type ListRequest } from '../../../runs/lists/lists.ts'
import type { RouteContext, RouteReply, Headers } from '../../api/route.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentDeps } from '../deps.ts'

export const LIST_ERRORS = ['rate_limited', 'worker_timeout'] as const satisfies readonly ErrorCode[]

type Context = Pick<
  RouteContext<unknown, unknown, unknown, DeploymentDeps>,
  'deps' | 'principal' | 'req' | 'gone'
>

/** The response with a page of a list, and headers for the next page. */
export async function listReply(context: Context, request: ListRequest): Promise<RouteReply<Uint8Array>> {
  const page = await context.deps.lists.read(callOf(context), request, context.gone())
  const { body, sent } = page
  return { headers: pageHeaders({ ...page, offset: offsetOf(request) }), body, sent }
}

/** The response with the number of records of a list. */
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

/**
 * Headers of a page of a list: the number of records, if it was counted, and the `offset` of the next page, if there is one.
 */
function pageHeaders(page: Pick<ListPage, 'shown' | 'total' | 'more'> & { offset: number }): Headers {
  const { offset, shown, total, more } = page
  return {
    ...(total !== null && { 'x-pagination-total': total }),
    ...(shown > 0 && more && { 'x-pagination-next': offset + shown }),
  }
}
